import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type AnswerOf } from '../../../api/call.ts'
import { reasonOf } from '../../../api/change.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { privacyTexts } from '../privacy-texts.ts'
import { commonTexts } from '../../../common/texts.ts'
import styles from '../../../common/settings.module.css'

const words = privacyTexts.erase

type Erasure = AnswerOf<'DELETE /api/projects/:projectId/users/:userId/data'>

/** Erasing everything of one of the app's users: asked twice, told exactly. */
export function EraseUser({ projectId, why }: { projectId: string; why: string | undefined }) {
  const [user, setUser] = useState('')
  const [tried, setTried] = useState(false)
  const [asking, setAsking] = useState(false)
  const erase = useMutation({
    mutationFn: (userId: string) =>
      call('DELETE /api/projects/:projectId/users/:userId/data', { params: { projectId, userId } }),
  })
  const submit = () => {
    setTried(true)
    if (user !== '' && why === undefined && !erase.isPending) setAsking(true)
  }
  return (
    <Card title={words.title} header={<Minor className={styles.wideOnly}>{words.more}</Minor>}>
      <Form className={styles.scrub} onSubmit={submit}>
        <div className={styles.ask}>
          <Field
            label={words.user}
            hint={words.userHint}
            className="mono"
            value={user}
            readOnly={why !== undefined}
            autoComplete="off"
            spellCheck={false}
            error={tried && user === '' ? words.missing : undefined}
            onChange={(event) => {
              setUser(event.target.value)
              erase.reset()
            }}
          />
          <Button type="submit" look="danger" icon="trash" busy={erase.isPending} why={why}>
            {words.button}
          </Button>
        </div>
        {erase.error === null ? null : (
          <Note tone="red" icon="warn" role="alert">
            {words.failed} {reasonOf(erase.error)}
          </Note>
        )}
        {erase.data === undefined ? null : <p role="status">{sentenceOf(erase.data)}</p>}
      </Form>
      <AskDialog
        user={user}
        open={asking}
        onClose={() => setAsking(false)}
        onYes={() => {
          setAsking(false)
          erase.mutate(user)
        }}
      />
    </Card>
  )
}

function sentenceOf({ state, erased }: Erasure): string {
  const what = Object.entries(erased)
    .flatMap(([kind, count]) => words.kinds[kind]?.(count) ?? [])
    .join(', ')
  if (state === 'running') return words.running(what)
  return what === '' ? words.nothing : words.done(what)
}

type AskDialogProps = { user: string; open: boolean; onClose: () => void; onYes: () => void }

function AskDialog({ user, open, onClose, onYes }: AskDialogProps) {
  const [typed, setTyped] = useState('')
  const ready = typed.trim().toLowerCase() === words.word
  const close = () => {
    setTyped('')
    onClose()
  }
  const submit = () => {
    if (!ready) return
    setTyped('')
    onYes()
  }
  return (
    <Dialog open={open} onClose={close} title={words.ask}>
      <p>{words.askText(user)}</p>
      <Form onSubmit={submit}>
        <Field
          label={words.confirm(words.word)}
          data-autofocus
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={close}>{commonTexts.cancel}</Button>
          <Button type="submit" look="danger" why={ready ? undefined : words.confirm(words.word)}>
            {words.run}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
