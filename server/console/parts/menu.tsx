import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

/** A choice of a menu; a line apart when it is `null`. */
export type Choice = {
  name: string;
  icon?: IconName;
  /** Key that does the same. */
  keys?: string;
  run: () => void;
} | null;

interface MenuProps {
  label: string;
  class?: string;
  choices: () => readonly Choice[];
  children: ComponentChildren;
}

const EDGE_PX = 8;

/** A button that opens a menu. Source: WAI-ARIA Authoring Practices, menu button. */
export function Menu({
  label,
  choices,
  children,
  class: kind = 'button quiet icon-button',
}: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        class={kind}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        {...(isOpen ? { 'aria-controls': id } : {})}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!isOpen);
        }}
      >
        {children}
      </button>
      {isOpen && <MenuList id={id} button={button} choices={choices()} close={close} />}
    </>
  );
}

interface MenuListProps {
  id: string;
  button: { readonly current: HTMLElement | null };
  choices: readonly Choice[];
  close: () => void;
}

function MenuList({ id, button, choices, close }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const menu = list.current;
    if (menu === null) return;
    menu.showPopover();
    placeBelow(menu, button.current);
    itemsOf(menu)[0]?.focus();
  }, []);
  const move = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const items = itemsOf(list.current);
    const at = items.indexOf(document.activeElement as HTMLElement);
    const places: Record<string, number> = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1 + items.length },
      ...{ Home: 0, End: items.length - 1 },
    };
    const next = places[event.key];
    if (next !== undefined) {
      event.preventDefault();
      items[next % items.length]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      close();
    }
  };
  return (
    <div
      ref={list}
      {...{ id, popover: 'auto', role: 'menu', tabIndex: -1, class: 'menu' }}
      onKeyDown={move}
      onToggle={(event) => event.newState === 'closed' && close()}
    >
      {choices.map((choice) =>
        choice === null ? (
          <hr />
        ) : (
          <button
            type="button"
            role="menuitem"
            class="menu-item"
            onClick={(event) => {
              event.stopPropagation();
              close();
              choice.run();
            }}
          >
            {choice.icon !== undefined && <Icon name={choice.icon} />}
            <span>{choice.name}</span>
            {choice.keys !== undefined && <kbd>{choice.keys}</kbd>}
          </button>
        ),
      )}
    </div>
  );
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
}

/** Puts a popover below an element, or above it where there is no room. */
export function placeBelow(popover: HTMLElement, anchor: HTMLElement | null): void {
  if (anchor === null) return;
  const { left, right, top, bottom } = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const isBelow = bottom + height + EDGE_PX < innerHeight || top < height;
  const isLeft = left + width + EDGE_PX < innerWidth;
  popover.style.top = `${Math.max(EDGE_PX, isBelow ? bottom + 4 : top - height - 4)}px`;
  popover.style.left = `${Math.max(EDGE_PX, isLeft ? left : right - width)}px`;
}
