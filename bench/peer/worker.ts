import type { Peer, PeerModule } from './peer.ts';
import type { Reply, Request } from './wire.ts';
import { wireFault } from './wire.ts';

/** The process of one peer: `worker.ts <module of the peer> <its folder>`, requests and replies over IPC. */

const [, , path, folder] = process.argv;
let peer: Peer | undefined;

process.on('message', (request: Request) => {
  void serve(request).then((reply) => {
    process.send?.(reply);
    if (request.action === 'close') process.disconnect();
  });
});

async function serve(request: Request): Promise<Reply> {
  try {
    return { id: request.id, value: await act(request) };
  } catch (error) {
    return { id: request.id, fault: wireFault(error) };
  }
}

async function act(request: Request): Promise<unknown> {
  if (request.action === 'open') {
    const module: PeerModule = await import(path);
    peer = await module.openPeer(folder);
    const { version, settings, pid } = peer;
    return { version, settings, pid };
  }
  if (peer === undefined) throw new Error('the peer is not open');
  if (request.action === 'load') return peer.load(request.part);
  if (request.action === 'settle') return peer.settle(request.events);
  if (request.action === 'ask') return peer.ask(request.question, request.parameters);
  if (request.action === 'clocks') return peer.clocks?.(request.question, request.parameters);
  return peer.close();
}
