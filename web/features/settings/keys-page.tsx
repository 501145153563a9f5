import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { projectSettingsQuery, projectsQuery, type ProjectSettings } from '../../api/queries.ts'
import { useCan } from '../../common/can.ts'
import { ProjectPart } from './project-part.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, InputBox } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatClock, formatCount, formatLeft, formatSince } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Toolbar } from '../../ui/stack.tsx'
import { Note } from '../../ui/note.tsx'
import { Minor } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { settingsTexts } from './texts.ts'
import { commonTexts } from '../../common/texts.ts'
import styles from './keys-page.module.css'
import settingsStyles from '../../common/settings.module.css'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings/keys')
const words = settingsTexts.keysPage

type Key = ProjectSettings['keys'][number]

const COUNTERS_MS = 15_000

export function ProjectKeysPage() {
  const { projectId } = route.useParams()
  const project = useQuery({ ...projectSettingsQuery(projectId), refetchInterval: COUNTERS_MS, meta: { quiet: true } })
  const may = useCan('projects.write')
  return (
    <ProjectPart title={settingsTexts.keys} lead={words.lead} heightPx={180} mayChange={may.allowed} project={project}>
      {(data) => <KeyCard project={data} why={may.why} onExpired={() => void project.refetch()} />}
    </ProjectPart>
  )
}

function KeyCard({
  project,
  why,
  onExpired,
}: {
  project: ProjectSettings
  why: string | undefined
  onExpired: () => void
}) {
  const [asking, setAsking] = useState(false)
  const list = useQuery({ ...projectsQuery, refetchInterval: COUNTERS_MS, meta: { quiet: true } })
  const counts = list.data?.items.find(({ id }) => id === project.id)
  const current = project.keys.find((key) => key.expires_at === null)
  const old = project.keys.filter((key) => key.expires_at !== null)
  return (
    <Card aria-label={words.current} className={styles.key}>
      <div className={styles.head}>
        <b>{words.current}</b>
        <span className="sp" />
        <Button icon="rotate" why={why} onClick={() => setAsking(true)}>
          {words.rotate}
        </Button>
      </div>
      <div className={settingsStyles.dsn}>
        <InputBox>
          <input
            className="mono"
            readOnly
            aria-label={words.dsn}
            value={project.dsn}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton size="sm" text={project.dsn} said={words.dsnCopied} />
        </InputBox>
      </div>
      {old.map((key) => (
        <OldKey key={key.id} oldKey={key} onExpired={onExpired} />
      ))}
      <dl className={settingsStyles.keyValues}>
        <div>
          <dt>{words.rate}</dt>
          <dd>{words.perMinute(formatCount(project.rate_limit_per_minute ?? words.defaultRate))}</dd>
        </div>
        <div>
          <dt>{words.events}</dt>
          <dd>{formatCount(counts?.events_24h ?? null)}</dd>
        </div>
        <div>
          <dt>{words.lastUsed}</dt>
          <dd>{current?.last_seen_at == null ? words.never : <Time at={current.last_seen_at} as="since" />}</dd>
        </div>
        {current === undefined ? null : (
          <div>
            <dt>{words.created}</dt>
            <dd>
              <Time at={current.created_at} as="moment" />
            </dd>
          </div>
        )}
      </dl>
      <RotateDialog project={project} open={asking} onClose={() => setAsking(false)} />
    </Card>
  )
}

/** The key before, with the time it has left. Once that is over the list is read again, and the note goes. */
function OldKey({ oldKey, onExpired }: { oldKey: Key; onExpired: () => void }) {
  const now = useNow('second')
  const expiresAt = Date.parse(oldKey.expires_at ?? '')
  const over = !(expiresAt > now)
  const expired = useEffectEvent(onExpired)
  useEffect(() => {
    if (over) expired()
  }, [over])
  if (over) return null
  return (
    <Note
      tone="amber"
      icon="clock"
      action={
        <CopyButton size="sm" text={oldKey.dsn} said={words.dsnCopied} iconOnly>
          {words.oldDsn}
        </CopyButton>
      }
    >
      <b>{words.oldStops(formatClock(expiresAt), formatLeft(expiresAt, now))}</b>
      <Minor as="p">
        {oldKey.last_seen_at === null ? words.oldUnused : words.oldUsed(formatSince(oldKey.last_seen_at, now))}
      </Minor>
    </Note>
  )
}

/** Apps in the field stop sending when their key goes: the one thing here that Undo cannot bring back. */
function RotateDialog({ project, open, onClose }: { project: ProjectSettings; open: boolean; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const rotate = useChange({
    send: () => call('POST /api/projects/:projectId/rotate-dsn', { params: { projectId: project.id }, body: {} }),
    touches: () => [['projects']],
    said: () => words.rotated,
    failed: words.rotateFailed,
  })
  const ready = typed.trim().toLowerCase() === words.rotateWord
  const close = () => {
    setTyped('')
    onClose()
  }
  const submit = () => {
    if (ready && !rotate.isPending) rotate.mutate(undefined, { onSettled: close })
  }
  return (
    <Dialog open={open} onClose={close} title={words.rotateTitle}>
      <p>{words.rotateText}</p>
      <Form onSubmit={submit}>
        <Field
          label={words.rotateConfirm(words.rotateWord)}
          data-autofocus
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={close}>{commonTexts.cancel}</Button>
          <Button
            type="submit"
            look="danger"
            busy={rotate.isPending}
            why={ready ? undefined : words.rotateConfirm(words.rotateWord)}
          >
            {words.rotate}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}
