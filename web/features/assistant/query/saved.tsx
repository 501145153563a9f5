import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { savedQueriesQuery, type Asked, type SavedQuery } from '../../../api/assistant-queries.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Popover } from '../../../ui/popover.tsx'
import { Minor } from '../../../ui/text.tsx'
import { queryTexts as texts } from './texts.ts'
import styles from './saved.module.css'

const askedOf = ({ query, sql }: SavedQuery): Asked => (sql === null ? { query: query ?? '' } : { sql })

/** The saved queries of the project; each runs, and its author or an admin deletes it. */
export function SavedQueries({ projectId, onRun }: { projectId: string; onRun: (asked: Asked) => void }) {
  const [open, setOpen] = useState(false)
  const saved = useQuery(savedQueriesQuery(projectId))
  const items = saved.data?.items ?? []
  const remove = useChange<SavedQuery, void>({
    send: async ({ id }) => {
      await call('DELETE /api/projects/:projectId/queries/:queryId', { params: { projectId, queryId: id } })
    },
    touches: () => [savedQueriesQuery(projectId).queryKey],
    said: (_answer, { name }) => texts.deleted(name),
    undo: (one) =>
      call('POST /api/projects/:projectId/queries', {
        params: { projectId },
        body: { name: one.name, ...askedOf(one) },
      }),
    failed: texts.deleteFailed,
  })
  return (
    <Popover
      label={texts.savedList}
      align="end"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button icon="book" caret>
          {texts.saved(items.length)}
        </Button>
      }
    >
      {items.length === 0 ? (
        <Minor as="p" className={styles.none}>
          {saved.error === null ? texts.savedNone : texts.savedFailed}
        </Minor>
      ) : (
        <ul className={classNames(styles.list, fitStyles.ruled)}>
          {items.map((one) => (
            <li key={one.id}>
              <Button
                look="ghost"
                title={one.sql ?? one.query ?? ''}
                onClick={() => {
                  setOpen(false)
                  onRun(askedOf(one))
                }}
              >
                {one.name}
              </Button>
              <IconButton
                size="sm"
                look="ghost"
                icon="trash"
                label={texts.deleteOne(one.name)}
                onClick={() => remove.mutate(one)}
              />
            </li>
          ))}
        </ul>
      )}
    </Popover>
  )
}

/** Gives a query a name. */
export function SaveQuery({ projectId, asked, onClose }: { projectId: string; asked: Asked; onClose: () => void }) {
  const [name, setName] = useState('sql' in asked ? '' : asked.query.slice(0, 60))
  const save = useChange({
    send: (given: string) =>
      call('POST /api/projects/:projectId/queries', { params: { projectId }, body: { name: given, ...asked } }),
    touches: () => [savedQueriesQuery(projectId).queryKey],
    said: (saved) => texts.savedAs(saved.name),
    failed: null,
  })
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (name.trim() !== '') save.mutate(name.trim(), { onSuccess: onClose })
  }
  return (
    <Dialog open onClose={onClose} title={texts.saveTitle}>
      <form className={fitStyles.loose} onSubmit={submit}>
        <Field
          label={texts.name}
          hint={texts.nameHint}
          error={save.error === null ? undefined : errorSentence(save.error, { name: texts.name })}
          value={name}
          maxLength={60}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setName(event.target.value)}
        />
        <DialogFoot
          onClose={onClose}
          submit={texts.save}
          busy={save.isPending}
          why={name.trim() === '' ? texts.name : undefined}
        />
      </form>
    </Dialog>
  )
}
