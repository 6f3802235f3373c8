# The one door: `make help` lists what there is.
BIN := node_modules/.bin
NODE := $(BIN)/node
INSTALLED := node_modules/.package-lock.json
# What tests, checks and benches need besides.
DEVELOPMENT := node_modules/.development
PEERS := bench/peer/node_modules/.package-lock.json

.PHONY: help run demo install develop check format test test-shippers test-long bench bench-peers bench-check bench-profile soak clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

run: install ## start the service, data in ./data
	@server/logseam serve --data data

demo: install ## start the service with a day of a web shop in it, data in ./demo-data
	@$(NODE) --no-warnings demo/main.ts

install: $(INSTALLED)
develop: $(DEVELOPMENT)

$(INSTALLED): package.json package-lock.json
	npm ci --omit=dev --no-audit --no-fund --loglevel=error
	@touch $@
	@server/logseam --version >/dev/null # bundles the sources, which the first start would do

$(DEVELOPMENT): package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $(INSTALLED) $@
	@server/logseam --version >/dev/null

check: develop ## format, lint and types
	$(BIN)/biome check .
	$(BIN)/tsc -p .

format: develop ## write the format that `make check` wants
	$(BIN)/biome check --write .

test: develop ## all tests but the long ones, with the time of each suite
	@$(NODE) test/run.ts

test-shippers: develop ## rsyslog, syslog-ng and logmatic-python against the service; unpacks them into .shippers
	@test/shippers/install.sh
	@$(NODE) test/run.ts --shippers

test-long: develop ## tests that take minutes
	@$(NODE) test/run.ts --long

bench: develop ## the benchmarks, 75 minutes (QUICK=1: three minutes; FILE=your.log: ingestion of it): results in bench/out
	@$(NODE) bench/main.ts $(if $(QUICK),--quick) $(if $(FILE),--file '$(FILE)')

bench-peers: develop $(PEERS) ## install DuckDB and ClickHouse, 600 MB, for `bench/peer/main.ts`

# Not `npm ci`: it refuses a lock without the optional packages of other platforms, which registries may not have.
$(PEERS): bench/peer/package.json bench/peer/package-lock.json
	npm install --prefix bench/peer --no-save --no-audit --no-fund --loglevel=error
	@touch $@

bench-check: develop ## the commit BASE and the working tree in turn: exits 1 when a figure is worse
	@$(NODE) bench/check.ts --base "$(BASE)"

bench-profile: develop ## where the time goes by stage, of NAME (ingest-tcp and query)
	@$(NODE) bench/profile.ts $(NAME)

soak: develop ## an hour (SOAK_MINUTES) of mixed load with kills: nothing is lost, memory is flat; a chart
	@$(NODE) test/soak/main.ts --minutes $(or $(SOAK_MINUTES),60) --rate $(or $(SOAK_RATE),1)

clean: ## remove what was installed and made
	rm -rf node_modules .tap .built bench/out bench/peer/node_modules
