import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { say } from '../base/notice.ts';

/**
 * A component whose script is loaded when it is first shown, so that a screen begins with little; until then there is
 * nothing in its place.
 */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Later(props: P) {
    const [Shown, setShown] = useState(() => loaded);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then((component) => {
        loaded = component;
        setShown(() => component);
      }, tell);
    }, []);
    return Shown === undefined ? null : <Shown {...props} />;
  };
}

/** A script that is gone belongs to a page of before an update. */
function tell(): void {
  say('A part of this page could not be loaded: load the page again.');
}
