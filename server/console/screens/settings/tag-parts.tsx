import { Button } from '../../parts/controls.tsx';
import { Field, TextField } from '../../parts/form.tsx';
import { type DraftTag, emptyTag } from './drafts.ts';
import type { PartsProps } from './form-parts.tsx';

/** The tags of a tagset in their order. */
export function TagParts({ draft: { tags }, set }: PartsProps) {
  const change = (at: number, changes: Partial<DraftTag>): void =>
    set({ tags: tags.map((tag, place) => (place === at ? { ...tag, ...changes } : tag)) });
  const moveUp = (at: number): void =>
    set({
      tags: [
        ...tags.slice(0, at - 1),
        ...tags.slice(at - 1, at + 1).reverse(),
        ...tags.slice(at + 1),
      ],
    });
  return (
    <>
      {tags.map((tag, at) => (
        <fieldset class="tag" key={at}>
          <legend class="field-label">Tag {at + 1}</legend>
          <Field label="Colour" name={`tags[${at}].color`}>
            <input
              type="color"
              class="input colour"
              value={tag.color}
              onInput={(event) => change(at, { color: event.currentTarget.value })}
            />
          </Field>
          <TextField
            {...{ label: 'Tag name', name: `tags[${at}].name`, value: tag.name, required: true }}
            set={(name) => change(at, { name })}
          />
          <TextField
            {...{ label: 'Search', name: `tags[${at}].query`, value: tag.query }}
            set={(query) => change(at, { query })}
          />
          <div class="tag-tools">
            <Button
              {...{ kind: 'quiet', icon: 'up', label: `Tag ${at + 1} up`, disabled: at === 0 }}
              onClick={() => moveUp(at)}
            />
            <Button
              {...{ kind: 'quiet', icon: 'trash', label: `Remove tag ${at + 1}` }}
              disabled={tags.length === 1}
              onClick={() => set({ tags: tags.filter((_, place) => place !== at) })}
            />
          </div>
        </fieldset>
      ))}
      <div>
        <Button icon="plus" onClick={() => set({ tags: [...tags, emptyTag(tags.length)] })}>
          Another tag
        </Button>
      </div>
    </>
  );
}
