import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import type { CodeHost } from '../../../api/code-host-queries.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { connectionsTexts } from './texts.ts'
import styles from './code-host-card.module.css'

const texts = connectionsTexts.rootsForm
const MAX_ROOTS = 20

type Props = { projectId: string; roots: CodeHost['source_roots']; onClose: () => void }

/** Changes the source roots that members typed; found ones are offered as a start. */
export function RootsDialog({ projectId, roots, onClose }: Props) {
  const typed = roots.filter(({ by }) => by === 'member')
  const [rows, setRows] = useState(
    (typed.length > 0 ? typed : roots.slice(0, 1)).map(({ stack_root, source_root }, key) => ({
      key,
      stack_root,
      source_root,
    })),
  )
  const save = useChange({
    send: () =>
      call('PATCH /api/projects/:projectId/integrations/codehost', {
        params: { projectId },
        body: { source_roots: rows.map(({ stack_root, source_root }) => ({ stack_root, source_root })) },
      }),
    touches: () => [['projects', projectId, 'codehost'], ['issues']],
    said: () => texts.saved,
    failed: null,
  })
  const replace = (key: number, part: Partial<(typeof rows)[number]>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <Form onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}>
        <Minor as="p">{texts.lead}</Minor>
        {rows.map(({ key, stack_root, source_root }) => (
          <div key={key} className={styles.inline}>
            <Field
              label={texts.stack}
              value={stack_root}
              onChange={({ target }) => replace(key, { stack_root: target.value })}
            />
            <Field
              label={texts.source}
              value={source_root}
              onChange={({ target }) => replace(key, { source_root: target.value })}
            />
            <IconButton
              look="ghost"
              icon="trash"
              label={texts.remove}
              onClick={() => setRows(rows.filter((row) => row.key !== key))}
            />
          </div>
        ))}
        {save.error === null ? null : (
          <Minor as="p" bad role="alert">
            {texts.failed} {errorSentence(save.error)}
          </Minor>
        )}
        <Toolbar align="end">
          {rows.length < MAX_ROOTS ? (
            <Button
              icon="plus"
              onClick={() => setRows([...rows, { key: (rows.at(-1)?.key ?? -1) + 1, stack_root: '', source_root: '' }])}
            >
              {texts.add}
            </Button>
          ) : null}
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            {texts.save}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
