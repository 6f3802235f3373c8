# The one door: `make help` lists what there is.
BIN := node_modules/.bin
NODE := $(BIN)/node
INSTALLED := node_modules/.package-lock.json
PEERS := bench/peer/node_modules/.package-lock.json

.PHONY: help run install check format test test-shippers test-long bench bench-peers bench-check bench-profile soak clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

run: install ## start the service, data in ./data
	@server/logseam serve --data data

install: $(INSTALLED)

$(INSTALLED): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@
	@server/logseam --version >/dev/null # bundles the sources, which the first start would do

check: install ## format, lint and types
	$(BIN)/biome check .
	$(BIN)/tsc -p .

format: install ## write the format that `make check` wants
	$(BIN)/biome check --write .

test: install ## all tests but the long ones, with the time of each suite
	@$(NODE) test/run.ts

test-shippers: install ## rsyslog, syslog-ng and logmatic-python against the service; unpacks them into .shippers
	@test/shippers/install.sh
	@$(NODE) test/run.ts --shippers

test-long: install ## tests that take minutes
	@$(NODE) test/run.ts --long

bench: install ## the benchmarks, 55 minutes (QUICK=1: three minutes; FILE=your.log: ingestion of it): results in bench/out
	@$(NODE) bench/main.ts $(if $(QUICK),--quick) $(if $(FILE),--file '$(FILE)')

bench-peers: install $(PEERS) ## install DuckDB and ClickHouse, 600 MB, for `bench/peer/main.ts`

# Not `npm ci`: it refuses a lock without the optional packages of other platforms, which registries may not have.
$(PEERS): bench/peer/package.json bench/peer/package-lock.json
	npm install --prefix bench/peer --no-save --no-audit --no-fund --loglevel=error
	@touch $@

bench-check: install ## the commit BASE and the working tree in turn: exits 1 when a figure is worse
	@$(NODE) bench/check.ts --base "$(BASE)"

bench-profile: install ## where the time goes by stage, of NAME (ingest-tcp and query)
	@$(NODE) bench/profile.ts $(NAME)

soak: install ## an hour (SOAK_MINUTES) of mixed load with kills: nothing is lost, memory is flat; a chart
	@$(NODE) test/soak/main.ts --minutes $(or $(SOAK_MINUTES),60) --rate $(or $(SOAK_RATE),1)

clean: ## remove what was installed and made
	rm -rf node_modules .tap .built bench/out bench/peer/node_modules
