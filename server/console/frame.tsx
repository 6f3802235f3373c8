import type { ComponentChildren } from 'preact';
import { isReachable, viewedKey } from './api/client.ts';
import { go, place } from './base/address.ts';
import { areKeysOn, HELP, isHelping, shortcuts, switchKeys } from './base/keyboard.ts';
import { notice } from './base/notice.ts';
import { logOut, session } from './base/session.ts';
import { chooseTheme, THEMES, theme } from './base/theme.ts';
import { Button, Dialog } from './parts/controls.tsx';
import { Icon, type IconName, Mark } from './parts/icon.tsx';
import { visible } from './parts/log-text.tsx';
import { type Choice, Menu } from './parts/menu.tsx';

const LINKS: readonly { path: string; name: string; icon: IconName; isAdmin?: boolean }[] = [
  { path: '/', name: 'Explore', icon: 'search' },
  { path: '/analytics', name: 'Analytics', icon: 'chart' },
  { path: '/send', name: 'Send', icon: 'send', isAdmin: true },
  { path: '/keys', name: 'Keys', icon: 'key', isAdmin: true },
  { path: '/users', name: 'Users', icon: 'people', isAdmin: true },
  { path: '/settings', name: 'Settings', icon: 'gear', isAdmin: true },
  { path: '/health', name: 'Health', icon: 'pulse', isAdmin: true },
  { path: '/audit', name: 'Audit', icon: 'book', isAdmin: true },
];

/** The frame of every screen: the way to the others, and who one is. */
export function Frame({ screen, children }: { screen: string; children: ComponentChildren }) {
  const isAdmin = session.value?.role === 'admin';
  const { path } = place.value;
  return (
    <div class="frame">
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <nav class="rail" aria-label="Screens">
        <a class="rail-mark" href="/" aria-label="Logseam">
          <Mark size={28} />
        </a>
        {LINKS.filter((link) => isAdmin || link.isAdmin !== true).map((link) => (
          <a
            class="rail-link"
            href={link.path}
            {...(link.path === path ? { 'aria-current': 'page' } : {})}
          >
            <Icon name={link.icon} size={20} />
            <span>{link.name}</span>
          </a>
        ))}
        <span class="rail-space" />
        <Menu label="Account" class="rail-link" choices={accountChoices}>
          <span
            class="avatar"
            aria-hidden="true"
            data-letter={(session.value?.name ?? '?').slice(0, 1).toUpperCase()}
          />
          <span>Account</span>
        </Menu>
      </nav>
      <main class="screen" id="main" aria-label={screen} tabIndex={-1}>
        {!isReachable.value && (
          <p class="banner" role="alert">
            <Icon name="warning" /> The service does not answer. This page goes on when it is back.
          </p>
        )}
        {viewedKey.value !== undefined && (
          <p class="banner view-as">
            <Icon name="eye" /> You see what the read key <b>{visible(viewedKey.value.name)}</b>{' '}
            sees.
            <Button
              onClick={() => {
                viewedKey.value = undefined;
              }}
            >
              Stop
            </Button>
          </p>
        )}
        {children}
      </main>
      <div class="notice" role="status" aria-live="polite">
        {notice.value !== undefined && <p>{notice.value}</p>}
      </div>
      {isHelping.value && <Help />}
    </div>
  );
}

function accountChoices(): Choice[] {
  const who = session.peek();
  // Whom a proxy names has no session that could end here.
  const hasSession = who?.ends !== null;
  return [
    ...THEMES.map((name) => ({
      name: `${name === 'auto' ? "System's theme" : name === 'dark' ? 'Dark' : 'Light'}`,
      icon: theme.peek() === name ? ('check' as const) : ('sun' as const),
      run: () => chooseTheme(name),
    })),
    null,
    { name: 'Keyboard', icon: 'help', keys: '?', run: HELP.run },
    {
      name: 'API reference',
      icon: 'book',
      run: () => {
        location.href = '/openapi.json';
      },
    },
    ...(hasSession && who?.type === 'user'
      ? [{ name: 'Password', icon: 'key' as const, run: () => go('/account') }]
      : []),
    ...(hasSession
      ? [null, { name: 'Log out', icon: 'out' as const, run: () => void logOut() }]
      : []),
  ];
}

function Help() {
  const close = (): void => {
    isHelping.value = false;
  };
  return (
    <Dialog title="Keyboard" close={close}>
      <dl class="keys">
        {shortcuts.value.map(({ keys, name }) => (
          <div>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd>{key}</kbd>
              ))}
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={areKeysOn.value}
          onChange={(event) => switchKeys(event.currentTarget.checked)}
        />
        Single keys do something on this browser
      </label>
    </Dialog>
  );
}
