import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { intakeQuery } from '../../../api/intake-queries.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
import { sumIntakeFigures } from '../../../api/intake-figures.ts'
import { ProjectPart } from './project-part.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { InputBox } from '../../../ui/field.tsx'
import { formatClock, formatCount, formatLeft, formatSince, NO_DATA } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import { Spacer } from '../../../ui/stack.tsx'
import { Note } from '../../../ui/note.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { settingsTexts } from './texts.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import styles from './keys-page.module.css'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = settingsTexts.keysPage

type Key = ProjectSettings['keys'][number]

const COUNTERS_MS = 15_000

export const ProjectKeysPage = () => (
  <ProjectPart title={settingsTexts.keys} lead={texts.lead} heightPx={180}>
    {(project, why) => <KeyCard project={project} why={why} />}
  </ProjectPart>
)

function KeyCard({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const [asking, setAsking] = useState(false)
  const settings = useQuery({
    ...projectSettingsQuery(project.id),
    refetchInterval: COUNTERS_MS,
    meta: { quiet: true },
  })
  const intake = useQuery({ ...intakeQuery(project.id, '24h'), refetchInterval: COUNTERS_MS, meta: { quiet: true } })
  const current = project.keys.find((key) => key.expires_at === null)
  const old = project.keys.filter((key) => key.expires_at !== null)
  return (
    <Card aria-label={texts.current} className={styles.key}>
      <div className={classNames(styles.head, narrowStyles.wrapsAt352)}>
        <b>{texts.current}</b>
        <Spacer />
        <Button icon="rotate" why={why} onClick={() => setAsking(true)}>
          {texts.rotate}
        </Button>
      </div>
      <div className={classNames(settingsStyles.dsn, fitStyles.bareInput)}>
        <InputBox>
          <input
            className={typeStyles.mono}
            readOnly
            aria-label={texts.dsn}
            value={project.dsn}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton size="sm" text={project.dsn} said={texts.dsnCopied} />
        </InputBox>
      </div>
      {old.map((key) => (
        <OldKey key={key.id} oldKey={key} onExpired={() => void settings.refetch()} />
      ))}
      <dl className={classNames(settingsStyles.keyValues, typeStyles.metaTerms)}>
        <div>
          <dt>{texts.rate}</dt>
          <dd>{texts.perMinute(formatCount(project.rate_limit_per_minute ?? texts.defaultRate))}</dd>
        </div>
        <div>
          <dt>{texts.events}</dt>
          <dd>
            {intake.data === undefined ? (
              NO_DATA
            ) : (
              <Link {...paths.intake({ project: project.id })}>
                {formatCount(sumIntakeFigures(intake.data).accepted)}
              </Link>
            )}
          </dd>
        </div>
        <div>
          <dt>{texts.lastUsed}</dt>
          <dd>{current?.last_seen_at == null ? texts.never : <Time at={current.last_seen_at} as="since" />}</dd>
        </div>
        {current === undefined ? null : (
          <div>
            <dt>{texts.created}</dt>
            <dd>
              <Time at={current.created_at} as="moment" />
            </dd>
          </div>
        )}
      </dl>
      {asking ? <RotateDialog project={project} onClose={() => setAsking(false)} /> : null}
    </Card>
  )
}

/** The note about the old key, with its remaining time. When it ends, the keys are refetched and the note disappears. */
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
        <CopyButton size="sm" text={oldKey.dsn} said={texts.dsnCopied} iconOnly>
          {texts.oldDsn}
        </CopyButton>
      }
    >
      <b>{texts.oldStops(formatClock(expiresAt), formatLeft(expiresAt, now))}</b>
      <Minor as="p">
        {oldKey.last_seen_at === null ? texts.oldUnused : texts.oldUsed(formatSince(oldKey.last_seen_at, now))}
      </Minor>
    </Note>
  )
}

/** Confirms rotating the key by typing, because apps with the old key stop sending. */
function RotateDialog({ project, onClose }: { project: ProjectSettings; onClose: () => void }) {
  const rotate = useChange({
    send: () => call('POST /api/projects/:projectId/rotate-dsn', { params: { projectId: project.id }, body: {} }),
    touches: () => [['projects']],
    said: () => texts.rotated,
    failed: texts.rotateFailed,
  })
  return (
    <TypedConfirm
      title={texts.rotateTitle}
      text={texts.rotateText}
      word={texts.rotateConfirmation}
      submit={texts.rotate}
      isBusy={rotate.isPending}
      onConfirm={() => rotate.mutate(undefined, { onSettled: onClose })}
      onClose={onClose}
    />
  )
}
