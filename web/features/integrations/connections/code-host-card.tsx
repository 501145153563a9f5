import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import type { CodeHost } from '../../../api/code-host-queries.ts'
import { SecretBox } from '../../../forms/secret-box.tsx'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { Happened, IntegrationCard } from '../../../subjects/integrations/integration-card.tsx'
import { integrationsTexts } from '../../../subjects/integrations/texts.ts'
import { Breakable } from '../../../ui/breakable.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatMoment } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Note } from '../../../ui/note.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { ConnectForm, TokenForm } from './code-host-forms.tsx'
import { RootsDialog } from './roots-dialog.tsx'
import { connectionsTexts as texts } from './texts.ts'
import styles from './code-host-card.module.css'

type Props = { projectId: string; host: CodeHost; why: string | undefined }
type Asking = 'secret' | 'disconnect' | 'roots' | 'token' | null

/** The code host of a project. */
export function CodeHostCard({ projectId, host, why }: Props) {
  const [asking, setAsking] = useState<Asking>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const close = () => setAsking(null)
  const touches = () => [['projects', projectId, 'codehost']]
  const params = { projectId }
  const name = host.provider === null ? texts.codeHost : texts.hosts[host.provider]
  const renew = useChange({
    send: () =>
      call('POST /api/projects/:projectId/integrations/codehost', {
        params,
        body: {
          repository_url: host.repository_url ?? '',
          provider: isPublic(host) ? undefined : (host.provider ?? undefined),
        },
      }),
    touches,
    said: () => texts.newSecretDone,
    failed: texts.newSecretFailed,
  })
  const disconnect = useChange({
    send: () => call('DELETE /api/projects/:projectId/integrations/codehost', { params }),
    touches,
    said: () => texts.disconnected,
    failed: texts.disconnectFailed,
  })
  const change = useChange({
    send: (body: { access_token?: null; reads_owners?: boolean }) =>
      call('PATCH /api/projects/:projectId/integrations/codehost', { params, body }),
    touches,
    said: (_answer, { access_token: token }) => (token === null ? texts.token.removed : texts.changed),
    failed: texts.changeFailed,
  })
  const isConnected = host.state !== 'not_connected'
  const mends = host.state === 'broken' || asking === 'token'
  return (
    <>
      {host.state === 'broken' && host.broken_since !== null ? (
        <Note tone="red" icon="warn">
          <b>{texts.brokenSince(name, formatMoment(host.broken_since))}</b> {host.last_error?.text}. {texts.brokenText}
        </Note>
      ) : null}
      {secret === null ? null : (
        <SecretBox
          title={texts.secretTitle}
          label={texts.secretLabel}
          secret={secret}
          lost={texts.secretLost}
          onStored={() => setSecret(null)}
        >
          <Minor as="p">{texts.secretSteps(host.webhook_url)}</Minor>
        </SecretBox>
      )}
      <IntegrationCard
        title={name}
        about={!isConnected ? texts.aboutUnknown : isPublic(host) ? texts.about : texts.selfManaged}
        state={host.state}
        actions={
          isConnected ? (
            <>
              <Button size="sm" why={why} onClick={() => setAsking('secret')}>
                {texts.newSecret}
              </Button>
              <Menu
                label={texts.more}
                align="end"
                entries={[
                  {
                    label: host.has_token ? texts.token.replace : texts.token.add,
                    why,
                    onSelect: () => setAsking('token'),
                  },
                  ...(host.has_token
                    ? [{ label: texts.token.remove, why, onSelect: () => change.mutate({ access_token: null }) }]
                    : []),
                  { kind: 'separator' },
                  { label: texts.disconnect, why, danger: true, onSelect: () => setAsking('disconnect') },
                ]}
                trigger={<IconButton look="ghost" size="sm" icon="more" label={texts.more} />}
              />
            </>
          ) : null
        }
        facts={isConnected ? <Facts host={host} why={why} onRoots={() => setAsking('roots')} /> : undefined}
        aside={isConnected ? <Deliveries host={host} /> : undefined}
        toDo={
          !isConnected ? (
            <ConnectForm projectId={projectId} why={why} onConnected={setSecret} />
          ) : mends ? (
            <TokenForm projectId={projectId} name={name} why={why} onSaved={close} />
          ) : undefined
        }
      >
        {isConnected && host.has_token ? (
          <div className={styles.row}>
            <div>
              <b className={typeStyles.medium}>{texts.readOwners}</b>
              <Minor as="p">{texts.readOwnersText}</Minor>
            </div>
            <Switch
              label={texts.readOwners}
              checked={host.owners.is_read}
              why={why}
              onChange={(reads_owners) => change.mutate({ reads_owners })}
            />
          </div>
        ) : null}
      </IntegrationCard>
      {asking === 'secret' ? (
        <TypedConfirm
          title={texts.newSecretTitle}
          text={texts.newSecretText}
          word={texts.renewWord}
          submit={texts.newSecret}
          isBusy={renew.isPending}
          onConfirm={() =>
            renew.mutate(undefined, {
              onSuccess: ({ webhook_secret: made }) => setSecret(made),
              onSettled: close,
            })
          }
          onClose={close}
        />
      ) : null}
      {asking === 'disconnect' ? (
        <TypedConfirm
          title={texts.disconnectTitle}
          text={texts.disconnectText}
          word={texts.disconnectWord}
          submit={texts.disconnect}
          isBusy={disconnect.isPending}
          onConfirm={() => disconnect.mutate(undefined, { onSettled: close })}
          onClose={close}
        />
      ) : null}
      {asking === 'roots' ? <RootsDialog projectId={projectId} roots={host.source_roots} onClose={close} /> : null}
    </>
  )
}

const isPublic = ({ repository_url: url }: CodeHost): boolean =>
  url !== null && /^https:\/\/(?:github|gitlab)\.com\//.test(url)

function Facts({ host, why, onRoots }: { host: CodeHost; why: string | undefined; onRoots: () => void }) {
  const url = host.repository_url ?? ''
  return (
    <>
      <div>
        <dt>{texts.repository}</dt>
        <dd>
          <a className={typeStyles.link} href={url} rel="noreferrer" target="_blank">
            <Breakable text={url.replace(/^https?:\/\//, '')} />
          </a>
        </dd>
      </div>
      <div>
        <dt>{texts.webhook}</dt>
        <dd className={styles.hook}>
          <span className={classNames(typeStyles.mono, fitStyles.ellipsis)} title={host.webhook_url}>
            {host.webhook_url}
          </span>
          <CopyButton iconOnly look="ghost" size="sm" text={host.webhook_url} said={texts.webhookCopied}>
            {texts.copyWebhook}
          </CopyButton>
        </dd>
      </div>
      {host.last_received === null ? (
        <div>
          <dt>{integrationsTexts.lastReceived}</dt>
          <dd className={typeStyles.quiet}>{texts.nothingYet}</dd>
        </div>
      ) : (
        <Happened
          name={integrationsTexts.lastReceived}
          text={`${host.last_received.event}${host.last_received.summary === null ? '' : `, ${host.last_received.summary}`}`}
          at={host.last_received.at}
        />
      )}
      <Happened name={integrationsTexts.lastSent} text={host.last_sent?.text ?? null} at={host.last_sent?.at ?? null} />
      <Happened
        name={integrationsTexts.lastError}
        text={host.last_error?.text ?? null}
        at={host.last_error?.at ?? null}
        bad
      />
      <div>
        <dt>{texts.roots}</dt>
        <dd>
          {host.source_roots.length === 0 ? <Minor>{texts.noRoots} </Minor> : null}
          {host.source_roots.map((root) => (
            <span key={`${root.stack_root} ${root.source_root}`} className={styles.root}>
              <span className={typeStyles.mono}>{root.stack_root === '' ? texts.rootEverything : root.stack_root}</span>
              <span aria-hidden>→</span>
              <span className={typeStyles.mono}>{root.source_root === '' ? '/' : root.source_root}</span>
              <Minor>{root.by === 'member' ? texts.rootTyped : texts.rootFiles(root.matched, root.tried)}</Minor>
            </span>
          ))}
          <Button look="ghost" size="sm" why={why} onClick={onRoots}>
            {texts.editRoots}
          </Button>
        </dd>
      </div>
      <div>
        <dt>{texts.owners}</dt>
        <dd>{ownersText(host)}</dd>
      </div>
      <div>
        <dt>{texts.known}</dt>
        <dd>{texts.knownParts(host.commit_count, host.file_count)}</dd>
      </div>
    </>
  )
}

function ownersText({ has_token: hasToken, owners }: CodeHost): string {
  if (!hasToken) return texts.ownersNeedToken
  if (!owners.is_read) return texts.ownersOff
  if (owners.path === null) return texts.ownersNone
  const rules = texts.ownersRules(owners.rules, owners.path)
  return owners.unknown.length === 0 ? rules : `${rules}. ${texts.ownersUnknown(owners.unknown)}`
}

function Deliveries({ host }: { host: CodeHost }) {
  const refused = host.last_refused_at
  return (
    <div className={classNames(styles.log, fitStyles.icons13)}>
      <h3 className={classNames(typeStyles.meta, typeStyles.medium)}>{texts.deliveries}</h3>
      {host.deliveries.length === 0 ? <Minor as="p">{texts.noDeliveries}</Minor> : null}
      <ul>
        {host.deliveries.map(({ id, event, state, summary, at }) => (
          <li key={id}>
            <Icon
              name={state === 'done' ? 'check' : state === 'waiting' ? 'clock' : 'warn'}
              label={texts.deliveryStates[state]}
              className={state === 'done' ? typeStyles.green : state === 'waiting' ? typeStyles.slate : typeStyles.red}
            />
            <span className={typeStyles.mono}>{event}</span>
            <Minor className={fitStyles.ellipsis} title={summary ?? undefined}>
              {summary}
            </Minor>
            <Minor className={fitStyles.nowrap}>
              <Time at={at} as="moment" />
            </Minor>
          </li>
        ))}
        {refused === null ? null : (
          <li>
            <Icon name="warn" className={typeStyles.red} />
            <span className={typeStyles.mono}>401</span>
            <Minor>{texts.refused}</Minor>
            <Minor className={fitStyles.nowrap}>
              <Time at={refused} as="moment" />
            </Minor>
          </li>
        )}
      </ul>
    </div>
  )
}
