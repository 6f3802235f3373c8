import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button, Dialog } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import { AnalysisParts } from './analysis-parts.tsx';
import { bodyOf, type Definition, type Draft, draftOf, KINDS, type Kind } from './drafts.ts';
import { FieldParts, GroupParts, type Members, MetricParts } from './form-parts.tsx';
import { type Preview, PreviewBox, previewOf } from './preview.tsx';
import { TagParts } from './tag-parts.tsx';

interface DefinitionFormProps {
  kind: Kind;
  one: Definition | undefined;
  members: Members;
  close: () => void;
  changed: () => void;
}

/** The form that makes a definition, or changes one, with a preview of what it gives. */
export function DefinitionForm({ kind, one, members, close, changed }: DefinitionFormProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(one));
  const [preview, setPreview] = useState<Preview>();
  const [isTrying, setTrying] = useState(false);
  const set = (changes: Partial<Draft>): void => setDraft((now) => ({ ...now, ...changes }));
  const send = async (): Promise<void> => {
    const body = bodyOf(kind, draft, one);
    const [method, path] = one === undefined ? ['POST', ''] : ['PATCH', `/${one.id}`];
    await call(method, `/admin/api/${kind}${path}`, body);
    changed();
    close();
  };
  const attempt = async (): Promise<void> => {
    setTrying(true);
    setPreview(
      await previewOf(
        kind,
        draft,
        members.metrics.map(({ id }) => id),
      ),
    );
    setTrying(false);
  };
  const parts = { draft, set, members };
  return (
    <Dialog
      title={one === undefined ? `New ${KINDS[kind].one}` : visible(one.name)}
      close={close}
      wide={kind === 'tagsets'}
    >
      <Form
        send={send}
        actions={(isBusy) => (
          <>
            {preview !== undefined && <PreviewBox preview={preview} />}
            <div class="actions">
              {kind !== 'groups' && (
                <Button icon="eye" disabled={isTrying} onClick={attempt}>
                  Preview
                </Button>
              )}
              <span class="space" />
              <Button onClick={close}>Cancel</Button>
              <Button kind="main" type="submit" disabled={isBusy}>
                Save
              </Button>
            </div>
          </>
        )}
      >
        <div class="form-row">
          <TextField
            {...{ label: 'Name', name: 'name', value: draft.name, required: true }}
            set={(name) => set({ name })}
          />
          {one === undefined && (
            <TextField
              {...{ label: 'Id', name: 'id', value: draft.id }}
              hint="Empty: made of the name"
              set={(id) => set({ id })}
            />
          )}
        </div>
        <TextField
          label="Description"
          name="description"
          value={draft.description}
          set={(description) => set({ description })}
        />
        {kind === 'fields' && <FieldParts {...parts} />}
        {kind === 'metrics' && <MetricParts {...parts} />}
        {kind === 'tagsets' && <TagParts {...parts} />}
        {kind === 'groups' && <GroupParts {...parts} />}
        {kind === 'saved_analyses' && <AnalysisParts {...parts} />}
      </Form>
    </Dialog>
  );
}
