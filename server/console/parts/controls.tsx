import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Fault } from '../api/client.ts';
import { say } from '../base/notice.ts';
import { Icon, type IconName } from './icon.tsx';

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'ref'> & {
  icon?: IconName;
  /** Text of a button that shows an icon alone. */
  label?: string;
  kind?: 'plain' | 'main' | 'quiet' | 'danger';
  isOn?: boolean;
};

/** A button of text, of an icon, or of both. */
export function Button({ icon, label, kind = 'plain', isOn, children, ...rest }: ButtonProps) {
  const pressed = isOn === undefined ? {} : { 'aria-pressed': isOn };
  const named = label === undefined ? {} : { 'aria-label': label, title: label };
  const form = children === undefined ? 'icon-button' : '';
  return (
    <button type="button" class={`button ${kind} ${form}`} {...named} {...pressed} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that copies a text and says so. */
export function CopyButton({ text, label = 'Copy', children }: CopyProps) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1_500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(typeof text === 'string' ? text : text());
    if (isCopied) setDone(true);
    else say('The browser does not let this page copy: select the text instead.');
  };
  return (
    <Button kind="quiet" icon={isDone ? 'check' : 'copy'} label={label} onClick={copy}>
      {children === undefined ? undefined : isDone ? 'Copied' : children}
    </Button>
  );
}

interface CopyProps {
  text: string | (() => string);
  label?: string;
  children?: ComponentChildren;
}

/** Copies a text; false when the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The way of pages without HTTPS, which have no clipboard of their own. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

/** The refusal of a part of a screen, and a way of trying again. The frame tells that the service is down. */
export function FaultNote({ fault, retry }: { fault: Fault; retry?: () => void }) {
  if (fault.status === 0) return null;
  return (
    <div class="fault-note" role="alert">
      <Icon name="warning" />
      <p>{fault.message}</p>
      {retry !== undefined && (
        <Button icon="refresh" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A dialog over the page. It is open as long as it is rendered. */
export function Dialog({ title, close, children, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  const outside = (event: MouseEvent): void => {
    if (event.target === ref.current) close();
  };
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-label={title}
      onClose={close}
      onClick={outside}
    >
      <header class="dialog-head">
        <h2>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={close} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
  wide?: boolean;
}
