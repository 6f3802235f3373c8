import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  threadId,
} from 'node:worker_threads';

/**
 * Loaded into every thread of a service by `NODE_OPTIONS=--import`. The first SIGUSR2 starts a profile of each thread,
 * the next one ends them. When all threads have done it, a JSON array of what each has to say is written to the file
 * that BENCH_PROFILE names: null for a start, the profile for an end. Threads that come meanwhile are in it, threads
 * that end meanwhile are not.
 */

const INTERVAL_MICROSECONDS = 500;
const ON = 'logseam-profile';

type Message = { type: 'start' } | { type: 'stop' } | { type: 'done'; said: unknown };

const session = new Session();
session.connect();
const channel = new BroadcastChannel('logseam-profile');
channel.unref();

function start(onStarted: (said: null) => void): void {
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS });
  session.post('Profiler.start', () => onStarted(null));
}

function stop(onProfile: (profile: unknown) => void): void {
  session.post('Profiler.stop', (_, answer) => onProfile(answer?.profile));
}

function followMain(): void {
  if (getEnvironmentData(ON) === true) start(() => {});
  channel.onmessage = (event) => {
    const { type }: Message = event.data;
    const answer = (said: unknown): void => channel.postMessage({ type: 'done', said });
    if (type === 'start') start(answer);
    if (type === 'stop') stop(answer);
  };
}

function lead(file: string): void {
  const workers = new Set<number>();
  let awaited = 0;
  let all: unknown[] = [];
  const take = (said: unknown): void => {
    all.push(said);
    if (all.length < awaited) return;
    // Whoever waits for the file finds it whole.
    writeFileSync(`${file}.new`, JSON.stringify(all));
    renameSync(`${file}.new`, file);
  };
  process.on('worker', (worker) => {
    const id = worker.threadId;
    workers.add(id);
    worker.once('exit', () => workers.delete(id));
  });
  channel.onmessage = (event) => {
    const message: Message = event.data;
    if (message.type === 'done') take(message.said);
  };
  process.on('SIGUSR2', () => {
    const isOn = getEnvironmentData(ON) === true;
    setEnvironmentData(ON, !isOn);
    all = [];
    awaited = workers.size + 1;
    channel.postMessage({ type: isOn ? 'stop' : 'start' });
    if (isOn) stop(take);
    else start(take);
  });
}

const file = process.env.BENCH_PROFILE;
if (isMainThread && file !== undefined) lead(file);
else if (threadId > 0) followMain();
