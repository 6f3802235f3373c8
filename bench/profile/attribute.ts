import { type Stage, stageOf, type Work } from './stage.ts';

/** Parts of a profile of V8 that are used here. Source: the DevTools protocol, `Profiler.Profile`. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  /** The node in which each sample was taken. */
  samples?: number[];
  /** Microseconds before each sample. */
  timeDeltas?: number[];
}

/** Where the time of a thread was spent beside its stages. */
export type Apart = 'garbage collection' | 'native' | 'idle';

/** Seconds of a function in its own code, what it calls that is not ours included. */
export interface HotFunction {
  /** `name file:line`. */
  name: string;
  seconds: number;
}

/** Seconds by stage, and by function inside each. */
export class StageTimes {
  readonly seconds = new Map<Stage | Apart, number>();
  readonly #functions = new Map<Stage | Apart, Map<string, number>>();

  /** Adds the samples of a thread; `root` is the folder of the repository that it ran, ending in `/`. */
  add(profile: CpuProfile, work: Work, root: string): void {
    const owners = ownersOf(profile, work, root);
    for (const [at, node] of (profile.samples ?? []).entries()) {
      const owner = owners.get(node);
      if (owner === undefined) continue;
      const seconds = (profile.timeDeltas?.[at] ?? 0) / 1e6;
      this.seconds.set(owner.stage, (this.seconds.get(owner.stage) ?? 0) + seconds);
      const functions = this.#functions.get(owner.stage) ?? new Map<string, number>();
      this.#functions.set(owner.stage, functions);
      const name = owner.name ?? 'Node';
      functions.set(name, (functions.get(name) ?? 0) + seconds);
    }
  }

  /** The `count` functions of a stage that took the most, the most first. */
  hottest(stage: Stage | Apart, count: number): HotFunction[] {
    return [...(this.#functions.get(stage) ?? [])]
      .map(([name, seconds]) => ({ name, seconds }))
      .sort((left, right) => right.seconds - left.seconds)
      .slice(0, count);
  }
}

interface Owner {
  stage: Stage | Apart;
  /** Of a function of ours; `undefined` where none has called so far. */
  name: string | undefined;
}

const APART = new Map<string, Apart>([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native'],
  ['(idle)', 'idle'],
]);

/**
 * Who each node's own time counts for: its file's stage; where that says nothing, as packages, Node itself and what all
 * stages use, that of the nearest caller. The function is the node's own when its file is ours, else the nearest caller
 * of ours.
 */
function ownersOf(profile: CpuProfile, work: Work, root: string): Map<number, Owner> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const owners = new Map<number, Owner>();
  const open: [id: number, owner: Owner][] = [
    [profile.nodes[0]?.id ?? 0, { stage: 'other', name: undefined }],
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [id, caller] = next;
    const node = nodes.get(id);
    if (node === undefined) continue;
    const { functionName, url, lineNumber } = node.callFrame;
    // The profiler itself.
    if (url === 'node:inspector') continue;
    const path = ourPath(url, root);
    const owner = {
      stage: APART.get(functionName) ?? stageOf(path ?? '', work) ?? caller.stage,
      name:
        path === undefined
          ? caller.name
          : `${functionName || '(anonymous)'} ${path}:${lineNumber + 1}`,
    };
    owners.set(id, owner);
    for (const child of node.children ?? []) open.push([child, owner]);
  }
  return owners;
}

/** The path of a file of ours below `root`; `undefined` of others. */
function ourPath(url: string, root: string): string | undefined {
  const path = url.replace('file://', '');
  if (!path.startsWith(root)) return undefined;
  const below = path.slice(root.length);
  return /^(engine|server)\//.test(below) ? below : undefined;
}

/** The work of the thread of a profile: by the worker whose functions ran in it; `front` where none did. */
export function workOf(profile: CpuProfile, front: 'ingest' | 'query'): Work {
  const ran = (file: string): boolean =>
    profile.nodes.some(({ callFrame }) => callFrame.url.endsWith(file));
  if (ran('/server/merge/merge-worker.ts')) return 'seal';
  if (ran('/server/ingest/worker.ts')) return 'ingest';
  if (ran('/server/query/query-worker.ts')) return 'query';
  return front;
}
