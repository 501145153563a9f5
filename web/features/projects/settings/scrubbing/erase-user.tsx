import { TypedConfirm } from '../../../../forms/typed-confirm.tsx'
import { ErrorNote } from '../../../../forms/error-note.tsx'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type AnswerOf } from '../../../../api/call.ts'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { Field } from '../../../../ui/field.tsx'
import { Form } from '../../../../ui/form.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { privacyTexts } from '../privacy-texts.ts'
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
        <ErrorNote error={erase.error} before={texts.failed} />
        {erase.data === undefined ? null : <p role="status">{sentenceOf(erase.data)}</p>}
      </Form>
      {asking ? (
        <TypedConfirm
          title={texts.ask}
          text={texts.askText(user)}
          word={texts.word}
          submit={texts.run}
          isBusy={false}
          onConfirm={() => {
            setAsking(false)
            erase.mutate(user)
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
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
