import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, SelectField } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { connectionsTexts } from './texts.ts'
import styles from './code-host-card.module.css'

const texts = connectionsTexts.form
const tokenTexts = connectionsTexts.token

const Steps = ({ steps }: { steps: readonly string[] }) => (
  <ol className={styles.steps}>
    {steps.map((step) => (
      <li key={step}>{step}</li>
    ))}
  </ol>
)

type Kind = 'github' | 'gitlab' | ''

type ConnectProps = { projectId: string; why: string | undefined; onConnected: (secret: string) => void }

/** Connects the repository of a project. */
export function ConnectForm({ projectId, why, onConnected }: ConnectProps) {
  const [url, setUrl] = useState('')
  const [kind, setKind] = useState<Kind>('')
  const [token, setToken] = useState('')
  const connect = useChange({
    send: () =>
      call('POST /api/projects/:projectId/integrations/codehost', {
        params: { projectId },
        body: {
          repository_url: url,
          ...(kind === '' ? {} : { provider: kind }),
          ...(token === '' ? {} : { access_token: token }),
        },
      }),
    touches: () => [['projects', projectId, 'codehost']],
    failed: null,
  })
  return (
    <Form
      onSubmit={() => connect.mutate(undefined, { onSuccess: ({ webhook_secret: secret }) => onConnected(secret) })}
    >
      <Steps steps={texts.steps} />
      <Field
        label={texts.url}
        hint={texts.urlHint}
        type="url"
        required
        value={url}
        error={connect.error === null ? undefined : `${texts.failed} ${errorSentence(connect.error)}`}
        onChange={(event) => setUrl(event.target.value)}
      />
      <div className={styles.inline}>
        <SelectField
          label={texts.provider}
          hint={texts.providerHint}
          value={kind}
          onChange={({ target: { value } }) => setKind(value === 'github' || value === 'gitlab' ? value : '')}
        >
          <option value="">{texts.byAddress}</option>
          <option value="github">{connectionsTexts.hosts.github}</option>
          <option value="gitlab">{connectionsTexts.hosts.gitlab}</option>
        </SelectField>
        <Field
          label={texts.token}
          hint={texts.tokenHint}
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </div>
      <div>
        <Button type="submit" look="primary" why={why} busy={connect.isPending}>
          {texts.connect}
        </Button>
      </div>
    </Form>
  )
}

type TokenProps = { projectId: string; name: string; why: string | undefined; onSaved: () => void }

/** Takes another token, which is tried before it is stored. */
export function TokenForm({ projectId, name, why, onSaved }: TokenProps) {
  const [token, setToken] = useState('')
  const save = useChange({
    send: () =>
      call('PATCH /api/projects/:projectId/integrations/codehost', {
        params: { projectId },
        body: { access_token: token },
      }),
    touches: () => [['projects', projectId, 'codehost']],
    said: () => tokenTexts.saved,
    failed: null,
  })
  return (
    <Form onSubmit={() => save.mutate(undefined, { onSuccess: onSaved })}>
      <Steps steps={tokenTexts.steps(name)} />
      <div className={styles.inline}>
        <Field
          label={tokenTexts.label}
          type="password"
          autoComplete="off"
          required
          value={token}
          error={save.error === null ? undefined : `${tokenTexts.failed} ${errorSentence(save.error)}`}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit" look="primary" why={why} busy={save.isPending}>
          {tokenTexts.save}
        </Button>
      </div>
    </Form>
  )
}
