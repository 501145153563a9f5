import { useRef, useState } from 'react'
import { errorSentence } from '../../../api/change.ts'
import type { SsoConfig } from '../../../api/sso-queries.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatMoment } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { ssoTexts } from './texts.ts'
import { useSaveSso } from './use-save.ts'
import styles from './sso-page.module.css'
import settingsStyles from '../../../frames/settings.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = ssoTexts.provider
const LABELS = { issuer: texts.issuer, client_id: texts.clientId, client_secret: texts.secret }

/** Issuer and client at the provider. */
export function ProviderCard({ config }: { config: SsoConfig }) {
  const [issuer, setIssuer] = useState(config.issuer ?? '')
  const [clientId, setClientId] = useState(config.client_id ?? '')
  const [secret, setSecret] = useState('')
  const [tried, setTried] = useState(false)
  const [removing, setRemoving] = useState(false)
  const save = useSaveSso(config, texts.saved, null)
  const form = useRef<HTMLDivElement>(null)
  const isDirty = issuer !== (config.issuer ?? '') || clientId !== (config.client_id ?? '') || secret !== ''
  const isNew = config.issuer === null
  const problems = {
    issuer: issuer.trim() === '' ? texts.missing.issuer : undefined,
    clientId: clientId.trim() === '' ? texts.missing.clientId : undefined,
    secret: secret === '' && !config.client_secret.configured ? texts.missing.secret : undefined,
  }
  const submit = () => {
    setTried(true)
    if (Object.values(problems).some((problem) => problem !== undefined)) {
      if (form.current !== null) focusFirstInvalid(form.current)
      return
    }
    if (save.isPending) return
    const body = {
      issuer: issuer.trim(),
      client_id: clientId.trim(),
      ...(secret === '' ? {} : { client_secret: secret }),
    }
    save.mutate(body, {
      onSuccess: (answer) => {
        setIssuer(answer.issuer ?? '')
        setClientId(answer.client_id ?? '')
        setSecret('')
        setTried(false)
      },
    })
  }
  const discard = () => {
    setIssuer(config.issuer ?? '')
    setClientId(config.client_id ?? '')
    setSecret('')
    setTried(false)
    save.reset()
  }
  const shown = (problem: string | undefined) => (tried ? problem : undefined)
  return (
    <Card
      title={texts.title}
      header={<Badge tone={isNew ? 'plain' : 'green'}>{isNew ? texts.state.off : texts.state.on}</Badge>}
    >
      <Form onSubmit={submit}>
        <div ref={form} className={`${settingsStyles.body} ${styles.narrow}`}>
          {save.error === null ? null : (
            <Note tone="red" icon="warn" role="alert">
              {errorSentence(save.error, LABELS)}
            </Note>
          )}
          <Field
            label={texts.callback}
            hint={texts.callbackHint}
            className={typeStyles.mono}
            readOnly
            value={config.callback_url}
            onFocus={(event) => event.target.select()}
            after={<CopyButton size="sm" text={config.callback_url} said={texts.callbackCopied} />}
          />
          <Field
            label={texts.issuer}
            hint={texts.issuerHint}
            error={shown(problems.issuer)}
            className={typeStyles.mono}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            maxLength={2048}
            value={issuer}
            onChange={(event) => setIssuer(event.target.value)}
          />
          <Field
            label={texts.clientId}
            error={shown(problems.clientId)}
            className={typeStyles.mono}
            autoComplete="off"
            spellCheck={false}
            maxLength={255}
            value={clientId}
            onChange={(event) => setClientId(event.target.value)}
          />
          <Field
            label={texts.secret}
            hint={
              config.client_secret.updated_at === null
                ? texts.secretHint
                : texts.secretKept(formatMoment(config.client_secret.updated_at))
            }
            error={shown(problems.secret)}
            type="password"
            autoComplete="new-password"
            maxLength={1024}
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </div>
        <SaveFoot
          dirty={isDirty}
          busy={save.isPending}
          save={texts.save}
          always={isNew}
          onSave={submit}
          onDiscard={discard}
        >
          {isNew ? null : (
            <>
              <Button size="sm" look="danger" onClick={() => setRemoving(true)}>
                {texts.remove}
              </Button>
              <a
                href={config.sign_in_url}
                target="_blank"
                rel="noreferrer"
                title={texts.testHint}
                {...buttonLook({ size: 'sm' })}
              >
                <span>{texts.test}</span>
              </a>
            </>
          )}
        </SaveFoot>
      </Form>
      {removing ? <RemoveDialog onClose={() => setRemoving(false)} /> : null}
    </Card>
  )
}
