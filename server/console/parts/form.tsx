import { type ComponentChildren, cloneElement, createContext, type VNode } from 'preact';
import { useContext, useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { Fault } from '../api/client.ts';

/** The refusal of what a form has sent, and the parameters for which it has fields. */
interface FormState {
  readonly names: Set<string>;
  readonly fault: string | undefined;
  /** The parameter that the refusal is about; `undefined` when there is no field for it. */
  readonly faulty: string | undefined;
}

const State = createContext<FormState | undefined>(undefined);

interface FormProps {
  /** Sends the form. Rejects with Fault, whose message begins with the name of a parameter. */
  send: () => Promise<unknown>;
  /** Refusal of what is typed, before it is sent. */
  refused?: string | undefined;
  class?: string;
  labelledBy?: string;
  children: ComponentChildren;
  /** The buttons below the fields; receives whether the form is being sent. */
  actions: (isBusy: boolean) => ComponentChildren;
}

/** A form. A refusal stands beside the field of the parameter that it names, else below all fields. */
export function Form({
  send,
  refused,
  class: kind = 'form',
  labelledBy,
  children,
  actions,
}: FormProps) {
  const names = useMemo(() => new Set<string>(), []);
  const [ownFault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const fault = refused ?? ownFault;
  const faulty = fault === undefined ? undefined : parameterOf(fault, names);
  useEffect(() => {
    element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [ownFault]);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await send();
      setFault(undefined);
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form ref={element} class={kind} aria-labelledby={labelledBy} onSubmit={submit}>
      <State.Provider value={{ names, fault, faulty }}>{children}</State.Provider>
      {fault !== undefined && faulty === undefined && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
      {actions(isBusy)}
    </form>
  );
}

/** The parameter with which a message begins, the longest of those that have fields. */
function parameterOf(message: string, names: Iterable<string>): string | undefined {
  const text = message.replace(/^forbidden: /, '');
  return [...names]
    .filter((name) => text.startsWith(name) && !/^\w/.test(text.slice(name.length)))
    .sort((left, right) => right.length - left.length)[0];
}

interface FieldProps {
  label: string;
  /** The parameter whose refusal stands beside the field. */
  name?: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
  /** One control. */
  children: VNode<object>;
}

/** A labelled field of a form, with its hint and its fault beside it. */
export function Field({ label, name, hint, fault: own, children }: FieldProps) {
  const form = useContext(State);
  const id = useId();
  useEffect(() => {
    if (name === undefined) return;
    form?.names.add(name);
    return () => {
      form?.names.delete(name);
    };
  }, [name]);
  const fault = own ?? (name !== undefined && form?.faulty === name ? form.fault : undefined);
  const described = [
    hint === undefined ? '' : `${id}-hint`,
    fault === undefined ? '' : `${id}-fault`,
  ];
  const about = described.filter((each) => each !== '').join(' ');
  const control = cloneElement(children, {
    id,
    ...(about === '' ? {} : { 'aria-describedby': about }),
    ...(fault === undefined ? {} : { 'aria-invalid': true }),
  });
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {control}
      {hint !== undefined && (
        <span class="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault !== undefined && (
        <span class="field-fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  set: (text: string) => void;
  type?: 'password';
  required?: boolean;
  autoComplete?: string;
  autocapitalize?: 'off';
  inputMode?: 'decimal';
}

/** A field of one line of text; `set` receives what is typed. */
export function TextField({ label, name, hint, fault, set, type, ...rest }: TextFieldProps) {
  const props = {
    ...rest,
    class: 'input',
    onInput: (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value),
  };
  const field = { label, hint, fault, ...(name === undefined ? {} : { name }) };
  return (
    <Field {...field}>
      {type === 'password' ? <input type="password" {...props} /> : <input {...props} />}
    </Field>
  );
}
