import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { trackerQuery, type ConnectedTracker, type TrackerChoices } from '../../../api/tracker-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, FieldHint, SelectField } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { trackerTexts } from './tracker-texts.ts'
import styles from './tracker-form.module.css'

const texts = trackerTexts.form

type TrackerFormProps = {
  projectId: string
  integration: ConnectedTracker['integration']
  why: string | undefined
  onConnected: (webhook: ConnectedTracker['webhook']) => void
}

const PROVIDERS = ['tracker_a', 'tracker_b', 'codehost'] as const
const EMPTY = { base_url: '', api_key: '', email: '', api_token: '' }

/** Tries the credentials, offers the teams they show, and connects. Empty credentials keep the stored ones. */
export function TrackerForm({ projectId, integration, why, onConnected }: TrackerFormProps) {
  const [provider, setProvider] = useState(integration?.provider ?? 'tracker_a')
  const [given, setGiven] = useState(EMPTY)
  const [webhookSecret, setWebhookSecret] = useState('')
  const [team, setTeam] = useState(integration?.team.id ?? '')
  const [type, setType] = useState(integration?.type?.id ?? '')
  const [syncs, setSyncs] = useState(integration?.sync_states ?? true)
  const [choices, setChoices] = useState<TrackerChoices | null>(null)
  const credentials =
    provider === 'codehost' ? {} : Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ''))
  const look = useChange({
    send: (teamId: string) =>
      call('POST /api/projects/:projectId/integrations/tracker/choices', {
        params: { projectId },
        body: { provider, ...credentials, ...(teamId === '' ? {} : { team_id: teamId }) },
      }),
    touches: () => [],
    failed: null,
  })
  const connect = useChange({
    send: () =>
      call('POST /api/projects/:projectId/integrations/tracker', {
        params: { projectId },
        body: {
          provider,
          ...credentials,
          ...(provider === 'tracker_a' && webhookSecret.trim() !== '' ? { webhook_secret: webhookSecret } : {}),
          ...(team === '' ? {} : { team_id: team }),
          ...(type === '' ? {} : { type_id: type }),
          sync_states: syncs,
        },
      }),
    touches: () => [trackerQuery(projectId).queryKey],
    failed: null,
  })
  const offer = (teamId: string) => {
    connect.reset()
    look.mutate(teamId, {
      onSuccess: (offered) => {
        setChoices(offered)
        setTeam(teamId === '' ? (offered.teams[0]?.id ?? '') : teamId)
        setType(offered.types[0]?.id ?? '')
      },
    })
  }
  const field = (name: keyof typeof EMPTY, label: string, hint?: string) => (
    <Field
      label={label}
      hint={hint}
      type={name === 'base_url' ? 'url' : name === 'email' ? 'email' : 'password'}
      autoComplete="off"
      value={given[name]}
      onChange={(event) => {
        setGiven({ ...given, [name]: event.target.value })
        setChoices(null)
      }}
    />
  )
  const error = look.error ?? connect.error
  return (
    <Form
      onSubmit={() =>
        choices === null ? offer('') : connect.mutate(undefined, { onSuccess: ({ webhook }) => onConnected(webhook) })
      }
    >
      <SelectField
        label={texts.provider}
        value={provider}
        onChange={(event) => {
          setProvider(PROVIDERS.find((one) => one === event.target.value) ?? 'tracker_a')
          setChoices(null)
        }}
      >
        {PROVIDERS.map((one) => (
          <option key={one} value={one}>
            {trackerTexts.names[one]}
          </option>
        ))}
      </SelectField>
      {provider === 'codehost' ? (
        <Minor as="p">{texts.codeHostHint}</Minor>
      ) : (
        field('base_url', texts.baseUrl[provider])
      )}
      {provider === 'tracker_a' ? (
        <>
          {field('api_key', texts.apiKey, texts.apiKeyHint)}
          <Field
            label={texts.webhookSecret}
            hint={texts.webhookSecretHint}
            type="password"
            autoComplete="off"
            value={webhookSecret}
            onChange={(event) => setWebhookSecret(event.target.value)}
          />
        </>
      ) : provider === 'codehost' ? null : (
        <>
          {field('email', texts.email, texts.emailHint)}
          {field('api_token', texts.apiToken, texts.apiTokenHint)}
        </>
      )}
      {choices === null ? null : (
        <>
          <SelectField
            label={provider === 'codehost' ? trackerTexts.repository : texts.team}
            value={team}
            onChange={(event) => offer(event.target.value)}
          >
            {choices.teams.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          {choices.types.length === 0 ? null : (
            <SelectField label={texts.type} value={type} onChange={(event) => setType(event.target.value)}>
              <option value="">{texts.anyType}</option>
              {choices.types.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
          )}
        </>
      )}
      <label className={styles.check}>
        <input type="checkbox" checked={syncs} onChange={(event) => setSyncs(event.target.checked)} />
        <span>
          {texts.sync}
          <FieldHint>{trackerTexts.syncOn}</FieldHint>
        </span>
      </label>
      {error === null ? null : (
        <Note tone="red" icon="warn" role="alert">
          {texts.failed} {errorSentence(error)}
        </Note>
      )}
      <Toolbar>
        <Button
          type="submit"
          look={choices === null ? undefined : 'primary'}
          why={why}
          busy={look.isPending || connect.isPending}
        >
          {choices === null ? texts.look[provider === 'codehost' ? 'repository' : 'teams'] : texts.connect}
        </Button>
      </Toolbar>
    </Form>
  )
}
