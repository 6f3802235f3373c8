import { fileURLToPath } from 'node:url';
import { watchDisk } from '../../engine/base/disk-watch.ts';
import { type Disk, openDisk } from '../../engine/base/file.ts';
import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import { AuthFailures } from '../api/access/failures.ts';
import { definitionRules } from '../api/admin/definition-rules.ts';
import { ConsoleAssets } from '../api/console/assets.ts';
import { adminPassword, type Config } from '../config.ts';
import { DiskHealth } from '../disk-health.ts';
import type { Certificate } from '../listen/certificate.ts';
import type { Log } from '../log.ts';
import { openSessions, type Sessions } from '../registry/account/sessions.ts';
import { openSetupLink, type SetupLink } from '../registry/account/setup-link.ts';
import { openUsers, type Users } from '../registry/account/users.ts';
import { openViews, type Views } from '../registry/account/views.ts';
import { DEFINITIONS_PATH, type Definitions, openDefinitions } from '../registry/definitions.ts';
import { FirstKeyFile } from '../registry/first-key.ts';
import { KEYS_PATH, type Keys, openKeys } from '../registry/keys.ts';
import { openAdminToken } from '../registry/secret.ts';
import { UsageCells } from '../registry/usage.ts';
import { certificateOf, type Runtime } from '../runtime.ts';

/** The folder of the built console, beside that of a bundled server and in `.built` for one that is not. */
const CONSOLE_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../.built/console' : '../console', import.meta.url),
).slice(1);

/** The data folder, opened, and the registries in it. */
export interface OpenedData {
  readonly runtime: Runtime;
  readonly log: Log;
  readonly disk: Disk;
  readonly health: DiskHealth;
  readonly certificate: Certificate | undefined;
  readonly opened: OpenedCatalog;
  readonly keys: Keys;
  readonly definitions: Definitions;
  /** The keys of a first start. */
  readonly provisioned: Awaited<ReturnType<Keys['provision']>>;
  readonly cells: UsageCells;
  /** The token of the administration. */
  readonly token: string;
  readonly failures: AuthFailures;
  readonly firstKey: FirstKeyFile;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly views: Views;
  readonly setup: SetupLink;
  readonly assets: ConsoleAssets;
}

/**
 * Opens what the data folder holds, recovers what the last stop left and logs what is damaged. Rejects with CORRUPTION,
 * USAGE and IO as `openCatalog`, `openKeys` and `openDefinitions` do.
 */
export async function openData(runtime: Runtime, unwatched: Disk, log: Log): Promise<OpenedData> {
  const { config } = runtime;
  const health = new DiskHealth(unwatched, log);
  const disk = watchDisk(unwatched, (failure) => health.fail(failure));
  const certificate = await certificateOf(config, disk, log);
  if (config.proxyUserHeader !== undefined && config.trustedProxies.length === 0) {
    log.error('proxy_user_header is believed from nobody: trusted_proxies is empty');
  }
  const registries = [KEYS_PATH, DEFINITIONS_PATH];
  const opened = await openCatalog({ disk, nowMs: Date.now(), registries });
  reportRecovery(opened, log);
  const cells = new UsageCells();
  const registry = await openRegistries(config, disk, opened, cells);
  const { keys, definitions } = registry;
  for (const name of keys.withoutLimit()) {
    log.error('a write key takes nothing: its quota is in percent, and plan_limit_mb is not set', {
      name,
    });
  }
  keys.restoreUsage(opened.usage);
  const token = await openAdminToken(disk);
  const firstKey = new FirstKeyFile(disk, keys, (error) =>
    log.error('the file with the first write key could not be removed', { error }),
  );
  firstKey.used(opened.usage);
  const users = await openUsers({ disk, nowMs: Date.now });
  const views = await openViews({ disk, nowMs: Date.now });
  const remarks = [opened.report, keys, definitions, users, views].flatMap((each) => each.healed);
  if (remarks.length > 0) {
    log.error('damage in one copy was healed from the other', { healed: remarks });
  }
  const sessions = await openSessions({ disk, nowMs: Date.now });
  await makeFirstUser(users, log);
  const setup = await openSetupLink(disk, users.list().length > 0);
  const failures = new AuthFailures(log);
  const assets = new ConsoleAssets(openDisk('/'), CONSOLE_FOLDER);
  return {
    ...{ runtime, log, disk, health, certificate, opened, cells, token, failures, firstKey },
    ...{ ...registry, users, sessions, views, setup, assets },
  };
}

/** Makes the user whose password the environment has, when there is none. Rejects with USAGE. */
async function makeFirstUser(users: Users, log: Log): Promise<void> {
  const password = adminPassword();
  if (password === undefined || users.list().length > 0) return;
  await users.createFirst({ name: 'admin', password }, { who: 'environment' });
  log.info('the user admin was made, with the password of LOGSEAM_ADMIN_PASSWORD');
}

/** Opens the keys and the definitions: made at the first start, and from then on they must be there. */
async function openRegistries(
  { planLimitMb }: Config,
  disk: Disk,
  { manifest }: OpenedCatalog,
  cells: UsageCells,
): Promise<Pick<OpenedData, 'keys' | 'definitions' | 'provisioned'>> {
  const nowMs = Date.now;
  const mustExist = manifest.hasRegistries;
  const keys = await openKeys({ disk, cells, planLimitMb, nowMs, mustExist });
  const rules = definitionRules(() => keys.list('read'), nowMs);
  const definitions = await openDefinitions({ disk, rules, nowMs, mustExist });
  const provisioned = await keys.provision();
  await definitions.provision();
  if (!mustExist) await manifest.keepRegistries();
  return { keys, definitions, provisioned };
}

function reportRecovery({ report }: OpenedCatalog, log: Log): void {
  const { segments, recovered, unclosed, remarks, removed, moved, lost } = report;
  if (recovered.length > 0) log.info('recovered after a stop', { segments, recovered });
  if (removed.length > 0)
    log.info('files that are in no set of segments were removed', { removed });
  if (moved.length > 0) log.error('files that nobody knows were moved to lost', { moved });
  if (lost.length > 0) log.error('lost holds files that are not served', { lost });
  if (unclosed.length > 0) log.error('the disk is full, the manifest could not be written');
  for (const remark of remarks) {
    if (remark.damaged.length > 0)
      log.error('a segment is damaged, the rest is served', { ...remark });
    else log.info('an unfinished commit group was cut', { ...remark });
  }
}
