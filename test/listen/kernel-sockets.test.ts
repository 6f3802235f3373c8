import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import t from 'tap';
import { holderOf, sharedPorts } from '../../server/listen/kernel-sockets.ts';

async function listen(host: string, port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen({ host, port, reusePort: true });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

/** Has another process listen until the function that is returned is called. */
async function another(host: string, port: number): Promise<() => Promise<unknown>> {
  const code = `require('node:net').createServer().listen(
    { host: '${host}', port: ${port}, reusePort: true }, () => console.log('listening'));`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return () => {
    child.kill();
    return once(child, 'close');
  };
}

t.test('a port that another process shares is told', async (t) => {
  for (const [ours, theirs, isShared] of [
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['127.0.0.1', '0.0.0.0', true],
    ['0.0.0.0', '127.0.0.1', true],
  ] as const) {
    const { server, port } = await listen(ours);
    const { server: second } = await listen(ours, port);
    t.notOk(sharedPorts().has(port), 'its own sockets may share one');
    const end = await another(theirs, port);
    t.equal(sharedPorts().has(port), isShared, `${ours} and ${theirs}`);
    await end();
    t.notOk(sharedPorts().has(port));
    server.close();
    second.close();
  }
});

t.test('a busy port has a holder, unless nobody or several listen there', async (t) => {
  const { server, port } = await listen('127.0.0.1');
  t.match(holderOf('tcp', port), { program: 'node', pid: process.pid });
  t.equal(holderOf('udp', port), undefined);
  const end = await another('127.0.0.2', port);
  t.equal(holderOf('tcp', port), undefined, 'one of two processes');
  await end();
  server.close();
  await once(server, 'close');
  t.equal(holderOf('tcp', port), undefined);
});
