import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { usePolling } from '../../../api/live.ts'
import { trackerQuery, type ConnectedTracker } from '../../../api/tracker-queries.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { SecretBox } from '../../../forms/secret-box.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Happened, IntegrationCard } from '../../../subjects/integrations/integration-card.tsx'
import { Button } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { TrackerForm } from './tracker-form.tsx'
import { trackerTexts as texts } from './tracker-texts.ts'

type TrackerCardProps = { projectId: string; why: string | undefined }

/** The tracker of a project: whether it works, and the fields that connect or mend it. */
export function TrackerCard({ projectId, why }: TrackerCardProps) {
  const tracker = useQuery({ ...trackerQuery(projectId), refetchInterval: usePolling(15_000) })
  return (
    <PageQuery query={tracker} what={texts.what} heightPx={180}>
      {({ state, integration }) => <Shown projectId={projectId} why={why} state={state} integration={integration} />}
    </PageQuery>
  )
}

type ShownProps = TrackerCardProps & Pick<ConnectedTracker, 'state' | 'integration'>

function Shown({ projectId, why, state, integration }: ShownProps) {
  const [isChanging, setChanging] = useState(false)
  const [isLeaving, setLeaving] = useState(false)
  const [fresh, setFresh] = useState<ConnectedTracker['webhook'] | null>(null)
  const disconnect = useChange({
    send: () => call('DELETE /api/projects/:projectId/integrations/tracker', { params: { projectId } }),
    touches: () => [trackerQuery(projectId).queryKey],
    said: () => texts.disconnected,
    failed: texts.disconnectFailed,
  })
  const needsForm = integration === null || isChanging || state === 'broken'
  const name = integration === null ? texts.title : texts.names[integration.provider]
  return (
    <>
      {fresh === null ? null : (
        <SecretBox
          title={texts.secret.title}
          label={texts.secret.label}
          secret={fresh.secret}
          lost={texts.secret.lost}
          onStored={() => setFresh(null)}
        >
          <Minor as="p" className={fitStyles.breaks}>
            {texts.secret.steps(fresh.url)}
          </Minor>
        </SecretBox>
      )}
      <IntegrationCard
        title={name}
        about={integration === null ? texts.about : texts.aboutTeam(integration.team.name)}
        state={state}
        actions={
          integration === null ? null : (
            <>
              {state === 'broken' ? null : (
                <Button size="sm" why={why} onClick={() => setChanging(!isChanging)}>
                  {texts.reconnect}
                </Button>
              )}
              <Button size="sm" look="danger" why={why} onClick={() => setLeaving(true)}>
                {texts.disconnect}
              </Button>
            </>
          )
        }
        facts={
          integration === null ? undefined : (
            <>
              <Fact name={texts.account} value={integration.account} />
              <Fact
                name={integration.provider === 'codehost' ? texts.repository : texts.team}
                value={integration.team.name}
              />
              {integration.type === null ? null : <Fact name={texts.type} value={integration.type.name} />}
              <Fact name={texts.sync} value={integration.sync_states ? texts.syncOn : texts.syncOff} />
              <Happened name={texts.received} text={null} at={integration.last_received_at} />
              <Happened name={texts.sent} text={null} at={integration.last_sent_at} />
              <Happened name={texts.error} text={integration.last_error} at={integration.last_error_at} bad />
            </>
          )
        }
        toDo={
          needsForm ? (
            <>
              {state === 'broken' ? (
                <Note tone="red" icon="warn">
                  {texts.refused}
                </Note>
              ) : null}
              <TrackerForm
                projectId={projectId}
                integration={integration}
                why={why}
                onConnected={(webhook) => {
                  setFresh(webhook)
                  setChanging(false)
                }}
              />
            </>
          ) : undefined
        }
      />
      {isLeaving ? (
        <TypedConfirm
          title={texts.disconnectTitle}
          text={texts.disconnectText}
          word={texts.disconnectWord}
          submit={texts.disconnect}
          isBusy={disconnect.isPending}
          onConfirm={() => disconnect.mutate(undefined, { onSettled: () => setLeaving(false) })}
          onClose={() => setLeaving(false)}
        />
      ) : null}
    </>
  )
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
