import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { ssoConfigQuery, type SsoConfig, type SsoDomain } from '../../../api/sso-queries.ts'
import { useUnsaved } from '../../../forms/unsaved.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field, FieldHint } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { addToast } from '../../../ui/toasts.tsx'
import { ssoTexts } from './texts.ts'
import { useSaveSso } from './use-save.ts'
import pageStyles from './sso-page.module.css'
import settingsStyles from '../../../frames/settings.module.css'
import styles from './domains-card.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = ssoTexts.domains

/** The domains of the organisation's addresses, each with its proof. */
export function DomainsCard({ config }: { config: SsoConfig }) {
  const [name, setName] = useState('')
  const [tried, setTried] = useState(false)
  const save = useSaveSso(config, null, null)
  useUnsaved(name.trim() !== '')
  const why = config.issuer === null ? ssoTexts.access.needsProvider : undefined
  const names = config.domains.map(({ domain }) => domain)
  const submit = () => {
    setTried(true)
    const domain = name.trim()
    if (why !== undefined || domain === '' || save.isPending) return
    save.mutate(
      { domains: [...names, domain] },
      {
        onSuccess: () => {
          addToast({ text: texts.added(domain), tone: 'good' })
          setName('')
          setTried(false)
        },
      },
    )
  }
  const refusal = save.error === null ? undefined : errorSentence(save.error, { domains: texts.domain })
  return (
    <Card title={texts.title} header={<Minor>{texts.lead}</Minor>}>
      {config.domains.length === 0 ? null : (
        <ul>
          {config.domains.map((domain) => (
            <DomainRow
              key={domain.domain}
              domain={domain}
              onRemove={() =>
                save.mutate(
                  { domains: names.filter((one) => one !== domain.domain) },
                  {
                    onSuccess: () => addToast({ text: texts.removed(domain.domain), tone: 'good' }),
                    onError: (error) => addToast({ text: `${texts.failed} ${errorSentence(error)}`, tone: 'bad' }),
                  },
                )
              }
            />
          ))}
        </ul>
      )}
      <div className={`${settingsStyles.body} ${pageStyles.narrow}`}>
        <Form onSubmit={submit}>
          <Field
            label={texts.domain}
            placeholder={texts.placeholder}
            error={tried && name.trim() === '' ? texts.missing : tried ? refusal : undefined}
            autoComplete="off"
            spellCheck={false}
            inputMode="url"
            maxLength={253}
            value={name}
            onChange={(event) => {
              setName(event.target.value)
              save.reset()
            }}
          />
          <Toolbar>
            <Button type="submit" icon="plus" why={why} busy={save.isPending}>
              {texts.add}
            </Button>
          </Toolbar>
        </Form>
      </div>
    </Card>
  )
}

function DomainRow({ domain, onRemove }: { domain: SsoDomain; onRemove: () => void }) {
  const verify = useChange({
    send: () => call('POST /api/auth/sso/domains/:domain/verify', { params: { domain: domain.domain } }),
    same: () => domain.domain,
    touches: () => [ssoConfigQuery.queryKey],
    settle: (client, answer) => client.setQueryData(ssoConfigQuery.queryKey, answer),
    said: () => texts.nowVerified(domain.domain),
    failed: null,
  })
  const isWaiting = domain.verified_at === null
  const isLost = !isWaiting && domain.missing_since !== null
  return (
    <li className={styles.domain}>
      <div className={styles.head}>
        <b>{domain.domain}</b>
        {isWaiting ? (
          <Badge tone="amber">{texts.waiting}</Badge>
        ) : isLost ? (
          <Badge tone="red">{texts.lost}</Badge>
        ) : (
          <Badge tone="green">{domain.verified_by === 'operator' ? texts.byOperator : texts.verified}</Badge>
        )}
        <Spacer />
        {isWaiting || isLost ? (
          <Button
            size="sm"
            busy={verify.isPending}
            aria-label={texts.verifyOf(domain.domain)}
            onClick={() => verify.mutate(undefined)}
          >
            {texts.verify}
          </Button>
        ) : null}
        <Button size="sm" look="danger" aria-label={texts.removeOf(domain.domain)} onClick={onRemove}>
          {texts.remove}
        </Button>
      </div>
      {isWaiting || isLost ? (
        <>
          <Minor as="p">{texts.record}</Minor>
          <KeyValues className={typeStyles.small}>
            <Part name={texts.recordName} value={domain.record_name} />
            <Part name={texts.recordValue} value={domain.record_value} />
          </KeyValues>
        </>
      ) : null}
      {verify.error === null ? null : (
        <FieldHint bad role="alert">
          {errorSentence(verify.error)}
        </FieldHint>
      )}
    </li>
  )
}

const Part = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd className={styles.part}>
      <span className={typeStyles.mono}>{value}</span>
      <CopyButton iconOnly text={value} said={texts.copied}>
        {`${name}: ${value}`}
      </CopyButton>
    </dd>
  </div>
)
