import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Neighbour } from '../support/neighbour.ts';
import {
  peakMegabytes,
  removeFolder,
  request,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
const service = await startService(folder, ['--ingest-workers', '2', '--query-workers', '2']);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

t.test('1.3 bodies of 33 million tiny events are refused, and neighbours go on', async (t) => {
  const attack = gzipSync(Buffer.from(`[${'1,'.repeat(33_500_000)}1]`));
  const neighbour = new Neighbour(service);
  await neighbour.alone();
  const answers = await Promise.all(
    [1, 2, 3].map(() =>
      request(`${service.http}/v1/input/${service.writeKey}?hostname=h&appname=attack&username=u`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          'x-service-add-ip': 'ip',
          'x-service-add-useragent': 'agent',
        },
        body: attack,
      }),
    ),
  );
  t.same(
    answers.map(({ status }) => status),
    [413, 413, 413],
  );
  await neighbour.check(t);
  const peak = peakMegabytes(service.pid);
  t.ok(peak < 900, `${peak} MB at most`);
});
