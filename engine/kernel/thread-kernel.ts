import { type KernelForm, kernelForm } from './kernel.ts';

/** The kernel of a thread, made when it is first asked, and anew for another form of kernels. */
export class ThreadKernel<K> {
  readonly #make: () => K | undefined;
  #made: { form: KernelForm; kernel: K | undefined } | undefined;

  /** `make` gives `undefined` where there are no kernels, or no memory for one. */
  constructor(make: () => K | undefined) {
    this.#make = make;
  }

  /** `undefined` when the plain form has to do its work. */
  get(): K | undefined {
    const form = kernelForm();
    if (this.#made?.form !== form) this.#made = { form, kernel: this.#make() };
    return this.#made.kernel;
  }

  /** Asks the kernel; `undefined` where there is none. One that traps is not asked again. */
  ask<T>(ask: (kernel: K) => T): { answer: T } | undefined {
    const kernel = this.get();
    if (kernel === undefined) return undefined;
    try {
      return { answer: ask(kernel) };
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#made = { form: kernelForm(), kernel: undefined };
      return undefined;
    }
  }
}
