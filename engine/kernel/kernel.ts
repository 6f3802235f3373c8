import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtKernels, type KernelBuild } from './build.ts';

/** Kernels that a process uses: `off` leaves everything to their references. */
export type KernelForm = KernelBuild | 'off';

let compiled: { form: KernelForm; module: WebAssembly.Module | undefined } | undefined;

let wanted: KernelForm = 'fast';

/** Sets the form of the kernels that are made from now on. */
export function useKernels(form: KernelForm): void {
  wanted = form;
}

/** The form of the kernels that are made now. */
export function kernelForm(): KernelForm {
  return wanted;
}

/**
 * An instance of the module of all kernels with a memory of its own, which belongs to the calling thread; `undefined`
 * where there are none, and the references do all the work. A broken assertion of the checked build throws.
 */
export function makeKernels(): WebAssembly.Exports | undefined {
  if (compiled?.form !== wanted) compiled = { form: wanted, module: compileModule(wanted) };
  if (compiled.module === undefined) return undefined;
  const abort = (): never => {
    throw new Error('assertion failed: access outside of a region of the kernel');
  };
  return new WebAssembly.Instance(compiled.module, { env: { abort } }).exports;
}

function compileModule(form: KernelForm): WebAssembly.Module | undefined {
  if (form === 'off') return undefined;
  const path = modulePath(form);
  if (path === undefined) return undefined;
  try {
    return new WebAssembly.Module(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** The module lies beside a bundled server; for sources it is made. */
function modulePath(build: KernelBuild): string | undefined {
  if (import.meta.url.endsWith('.ts')) return builtKernels(build);
  return fileURLToPath(new URL('../kernel.wasm', import.meta.url));
}
