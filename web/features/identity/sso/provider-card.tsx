import { ErrorNote } from '../../../forms/error-note.tsx'
import { useState } from 'react'
import type { SsoConfig } from '../../../api/sso-queries.ts'
import { useFormModel } from '../../../forms/form-model.ts'
import { SaveFoot } from '../../../forms/save-foot.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { formatMoment } from '../../../ui/format.ts'
import { RemoveDialog } from './remove-dialog.tsx'
import { ssoTexts } from './texts.ts'
import { useSaveSso } from './use-save.ts'
import styles from './sso-page.module.css'
import settingsStyles from '../../../frames/settings.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = ssoTexts.provider
const LABELS = { issuer: texts.issuer, client_id: texts.clientId, client_secret: texts.secret }

type Draft = { issuer: string; clientId: string; secret: string }

/** The stored secret is never shown; an empty field keeps it. */
const draftOf = (config: SsoConfig): Draft => ({
  issuer: config.issuer ?? '',
  clientId: config.client_id ?? '',
  secret: '',
})

const bodyOf = ({ issuer, clientId, secret }: Draft) => ({
  issuer: issuer.trim(),
  client_id: clientId.trim(),
  ...(secret === '' ? {} : { client_secret: secret }),
})

const problemsOf = ({ issuer, clientId, secret }: Draft, config: SsoConfig) => ({
  issuer: issuer.trim() === '' ? texts.missing.issuer : undefined,
  clientId: clientId.trim() === '' ? texts.missing.clientId : undefined,
  secret: secret === '' && !config.client_secret.configured ? texts.missing.secret : undefined,
})

/** Issuer and client at the provider. */
export function ProviderCard({ config }: { config: SsoConfig }) {
  const [removing, setRemoving] = useState(false)
  const save = useSaveSso(config, texts.saved, null)
  const isNew = config.issuer === null
  const { draft, set, tried, error, form } = useFormModel({
    stored: draftOf(config),
    save: { ...save, mutate: (sent, then) => save.mutate(bodyOf(sent), then) },
    draftOf,
    isWhole: (sent) => Object.values(problemsOf(sent, config)).every((problem) => problem === undefined),
    always: isNew,
  })
  const { formRef, ...foot } = form
  const problems = tried ? problemsOf(draft, config) : null
  return (
    <Card
      title={texts.title}
      header={<Badge tone={isNew ? 'plain' : 'green'}>{isNew ? texts.state.off : texts.state.on}</Badge>}
    >
      <Form formRef={formRef} onSubmit={foot.onSave}>
        <div className={`${settingsStyles.body} ${styles.narrow}`}>
          <ErrorNote error={error} labels={LABELS} />
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
            error={problems?.issuer}
            className={typeStyles.mono}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            maxLength={2048}
            value={draft.issuer}
            onChange={(event) => set({ issuer: event.target.value })}
          />
          <Field
            label={texts.clientId}
            error={problems?.clientId}
            className={typeStyles.mono}
            autoComplete="off"
            spellCheck={false}
            maxLength={255}
            value={draft.clientId}
            onChange={(event) => set({ clientId: event.target.value })}
          />
          <Field
            label={texts.secret}
            hint={
              config.client_secret.updated_at === null
                ? texts.secretHint
                : texts.secretKept(formatMoment(config.client_secret.updated_at))
            }
            error={problems?.secret}
            type="password"
            autoComplete="new-password"
            maxLength={1024}
            value={draft.secret}
            onChange={(event) => set({ secret: event.target.value })}
          />
        </div>
        <SaveFoot {...foot} save={texts.save}>
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
