import type { LinePlan, SocketOrder } from '../ingest/socket-order.ts';
import type { IngestWorker } from '../ingest/worker.ts';
import type { ConnectionSink } from './connection.ts';
import { Crowd } from './crowd.ts';
import type { LineCells } from './line-cells.ts';
import { type LinesOptions, listenTcp, type TcpListener } from './tcp.ts';
import { listenTls, type TlsListener } from './tls.ts';

/** The listeners for lines of one ingest worker, in its thread. Its connections live and end with it. */
export class WorkerSockets {
  readonly #worker: IngestWorker;
  readonly #number: number;
  readonly #cells: LineCells;
  readonly #sink: ConnectionSink;
  readonly #crowd = new Crowd();
  #listeners: TcpListener[] = [];
  #secure: TlsListener[] = [];

  /** `number` is that of the worker in the cells. */
  constructor(worker: IngestWorker, number: number, cells: LineCells) {
    this.#worker = worker;
    this.#number = number;
    this.#cells = cells;
    const { lines } = worker;
    const { sink } = lines;
    this.#sink = {
      roomForLines: (bytes, origin) => sink.roomForLines(bytes, origin),
      appendLines: (...given) => sink.appendLines(...given),
      isKey: (...asked) => worker.isKey(...asked),
      met: (...sender) => worker.met(...sender),
      whenRoom: (resume) => lines.whenRoom(resume),
      whenVisible: (resume) => worker.whenVisible(resume),
    };
  }

  /** Ends connections that are to end after a time; to be called about once a second. */
  tick(): void {
    this.#crowd.sweep(performance.now());
  }

  /** Does what the front thread says. */
  async take(order: SocketOrder): Promise<void> {
    if (order.type === 'listen') await this.#listen(order.plans);
    else if (order.type === 'certificate') {
      for (const listener of this.#secure) listener.reload(order.certificate);
    } else {
      await Promise.all(this.#listeners.map((listener) => listener.close(order.graceMs)));
      this.#worker.tell({ type: 'stopped' });
    }
  }

  /** Listens no more and ends all connections so that their senders see an error. */
  lose(): void {
    for (const listener of this.#listeners) listener.lose();
  }

  async #listen(plans: readonly LinePlan[]): Promise<void> {
    try {
      for (const plan of plans) await this.#open(plan);
      this.#worker.tell({ type: 'listening' });
    } catch (error) {
      const opened = this.#listeners;
      this.#listeners = [];
      this.#secure = [];
      await Promise.all(opened.map((listener) => listener.close(0)));
      const message = error instanceof Error ? error.message : String(error);
      this.#worker.tell({ type: 'refused', message });
    }
  }

  async #open({ setting, host, port, key, tls }: LinePlan): Promise<void> {
    const options: LinesOptions = {
      setting,
      host,
      port,
      sink: this.#sink,
      crowd: this.#crowd,
      meter: this.#cells.meter(this.#number, tls === undefined ? 'tcp' : 'tls'),
      failed: (error) => this.#worker.tell({ type: 'failed', error }),
      ...(key === undefined ? {} : { cell: () => this.#worker.cellOf(key) }),
    };
    if (tls === undefined) {
      this.#listeners.push(await listenTcp(options));
      return;
    }
    const listener = await listenTls({ ...options, ...tls });
    this.#listeners.push(listener);
    this.#secure.push(listener);
  }
}
