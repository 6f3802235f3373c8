import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { visible } from '../../parts/log-text.tsx';
import { viewId } from '../explore/question.ts';
import { forgetViews, isChanged, isChoosing, loadViews, opened, viewDialog } from './views.ts';

const ViewParts = later(async () => (await import('../explore-parts.ts')).ViewParts);

/** The view that is open, and the way to all of them. */
export function ViewButton() {
  const button = useRef<HTMLButtonElement>(null);
  const id = viewId.value;
  useEffect(() => forgetViews, []);
  const isAsking = viewDialog.value !== undefined;
  // The focus comes back when the dialog is gone: while it is there nothing else can have it.
  useEffect(() => (isAsking ? () => button.current?.focus() : undefined), [isAsking]);
  useEffect(() => {
    if (id !== undefined && opened.peek() === undefined) void loadViews();
  }, [id]);
  return (
    <div>
      <button
        type="button"
        ref={button}
        class="button view-button"
        aria-haspopup="dialog"
        aria-expanded={isChoosing.value}
        onClick={() => {
          isChoosing.value = !isChoosing.value;
        }}
      >
        <Icon name="view" />
        <span>{visible(opened.value?.name ?? 'Views')}</span>
        {isChanged.value && <span class="changed">changed</span>}
        <Icon name="down" size={12} />
      </button>
      {(isChoosing.value || isAsking) && <ViewParts button={button} />}
    </div>
  );
}
