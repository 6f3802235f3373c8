import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isReachable } from './api/client.ts';
import { place } from './base/address.ts';
import { findSession, refusal, session } from './base/session.ts';
import { Frame } from './frame.tsx';
import { Mark } from './parts/icon.tsx';
import { visible } from './parts/log-text.tsx';
import { Explore } from './screens/explore/explore.tsx';

/** A screen, loaded when one goes there. */
interface Screen {
  title: string;
  /** Administrators alone. */
  isAdmin?: boolean;
  load: () => Promise<ComponentType>;
}

const SCREENS: Readonly<Record<string, Screen>> = {
  '/': { title: 'Explore', load: async () => Explore },
  '/analytics': {
    title: 'Analytics',
    load: async () => (await import('./screens/explore-parts.ts')).Analytics,
  },
  '/differences': {
    title: 'Differences',
    load: async () => (await import('./screens/explore-parts.ts')).Differences,
  },
  '/send': {
    ...{ title: 'Send logs', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Send,
  },
  '/keys': {
    ...{ title: 'Keys', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Keys,
  },
  '/users': {
    ...{ title: 'Users', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Users,
  },
  '/settings': {
    ...{ title: 'Settings', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Settings,
  },
  '/health': {
    ...{ title: 'Health', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Health,
  },
  '/audit': {
    ...{ title: 'Audit log', isAdmin: true },
    load: async () => (await import('./screens/admin-screens.ts')).Audit,
  },
  '/event': {
    title: 'Event',
    load: async () => (await import('./screens/explore-parts.ts')).EventPage,
  },
  '/account': {
    title: 'Your account',
    load: async () => (await import('./screens/entrance.ts')).Account,
  },
};

/** The console: who has not logged in logs in first, at whatever address. */
export function App() {
  const who = session.value;
  const { path } = place.value;
  useEffect(() => {
    if (who === undefined && isReachable.value) void findSession().catch(() => undefined);
  }, [who, isReachable.value]);
  if (path === '/setup') return <Lazy name="setup" load={loadSetup} />;
  if (refusal.value !== undefined) {
    return (
      <Message title="You are not let in">
        <p>{visible(refusal.value)}</p>
      </Message>
    );
  }
  if (who === undefined) return isReachable.value ? <Waiting /> : <Unreachable />;
  if (who === null) return <Lazy name="login" load={loadLogin} />;
  return (
    <Frame screen={SCREENS[path]?.title ?? ''}>
      <Routed path={path} isAdmin={who.role === 'admin'} />
    </Frame>
  );
}

async function loadSetup(): Promise<ComponentType> {
  return (await import('./screens/entrance.ts')).Setup;
}

async function loadLogin(): Promise<ComponentType> {
  return (await import('./screens/entrance.ts')).Login;
}

function Routed({ path, isAdmin }: { path: string; isAdmin: boolean }) {
  const screen = SCREENS[path];
  useEffect(() => {
    document.title = screen === undefined ? 'Logseam' : `${screen.title} · Logseam`;
  }, [screen]);
  if (screen === undefined) {
    return (
      <Message title="There is nothing at this address">
        <p>
          <a href="/">Explore your logs</a>
        </p>
      </Message>
    );
  }
  if (screen.isAdmin === true && !isAdmin) {
    return (
      <Message title="This is for administrators">
        <p>Ask one to change it, or log in as one.</p>
      </Message>
    );
  }
  return <Lazy name={path} load={screen.load} />;
}

/** Shows a component once it is loaded. */
function Lazy({ name, load }: { name: string; load: () => Promise<ComponentType> }) {
  const [loaded, setLoaded] = useState<{ name: string; Shown: ComponentType }>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    let isWanted = true;
    load().then(
      (Shown) => isWanted && setLoaded({ name, Shown }),
      () => isWanted && setLost(true),
    );
    return () => {
      isWanted = false;
    };
  }, [name]);
  if (isLost) {
    return (
      <Message title="This screen could not be loaded">
        <button type="button" class="button main" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Message>
    );
  }
  return loaded?.name === name ? <loaded.Shown /> : <div class="loading" aria-busy="true" />;
}

function Waiting() {
  return (
    <div class="center" aria-busy="true">
      <Mark size={48} />
    </div>
  );
}

/** The service does not answer: the page goes on when it does. */
function Unreachable() {
  return (
    <Message title="The service does not answer">
      <p>This page goes on by itself when it is back.</p>
    </Message>
  );
}

/** A message in place of a screen. */
function Message({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <div class="center">
      <Mark size={48} />
      <h1>{title}</h1>
      {children}
    </div>
  );
}
