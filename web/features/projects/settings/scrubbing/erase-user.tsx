import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type AnswerOf } from '../../../../api/call.ts'
import { errorSentence } from '../../../../api/change.ts'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { Dialog } from '../../../../ui/dialog.tsx'
import { Field } from '../../../../ui/field.tsx'
import { Form } from '../../../../ui/form.tsx'
import { Toolbar } from '../../../../ui/stack.tsx'
import { Note } from '../../../../ui/note.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { privacyTexts } from '../privacy-texts.ts'
import { appTexts } from '../../../../app/texts.ts'
import styles from '../../../../frames/settings.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import typeStyles from '../../../../ui/type.module.css'

const texts = privacyTexts.erase

type Erasure = AnswerOf<'DELETE /api/projects/:projectId/users/:userId/data'>

/** Erases the data of one of the app's users, after a confirmation. */
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
    <Card title={texts.title} header={<Minor className={narrowStyles.hiddenAt600}>{texts.more}</Minor>}>
      <Form className={classNames(typeStyles.smallHeads, fitStyles.insetGrid)} onSubmit={submit}>
        <div className={styles.ask}>
          <Field
            label={texts.user}
            hint={texts.userHint}
            className={typeStyles.mono}
            value={user}
            readOnly={why !== undefined}
            autoComplete="off"
            spellCheck={false}
            error={tried && user === '' ? texts.missing : undefined}
            onChange={(event) => {
              setUser(event.target.value)
              erase.reset()
            }}
          />
          <Button type="submit" look="danger" icon="trash" busy={erase.isPending} why={why}>
            {texts.button}
          </Button>
        </div>
        {erase.error === null ? null : (
          <Note tone="red" icon="warn" role="alert">
            {texts.failed} {errorSentence(erase.error)}
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
    .flatMap(([kind, count]) => texts.kinds[kind]?.(count) ?? [])
    .join(', ')
  if (state === 'running') return texts.running(what)
  return what === '' ? texts.nothing : texts.done(what)
}

type AskDialogProps = { user: string; open: boolean; onClose: () => void; onYes: () => void }

function AskDialog({ user, open, onClose, onYes }: AskDialogProps) {
  const [typed, setTyped] = useState('')
  const ready = typed.trim().toLowerCase() === texts.word
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
    <Dialog open={open} onClose={close} title={texts.ask}>
      <p>{texts.askText(user)}</p>
      <Form onSubmit={submit}>
        <Field
          label={texts.confirm(texts.word)}
          data-autofocus
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={close}>{appTexts.cancel}</Button>
          <Button type="submit" look="danger" why={ready ? undefined : texts.confirm(texts.word)}>
            {texts.run}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
