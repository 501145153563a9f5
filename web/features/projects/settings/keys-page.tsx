import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { intakeQuery } from '../../../api/intake-queries.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
import { useCan } from '../../../app/can.ts'
import { useKeys } from '../../../app/keys.ts'
import { ConfirmDialog } from '../../../forms/confirm-dialog.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { ProjectPart } from './project-part.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { InputBox } from '../../../ui/field.tsx'
import { formatClock, formatCount, formatLeft, formatSince, NO_DATA } from '../../../ui/format.ts'
import { Menu } from '../../../ui/menu.tsx'
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

export function ProjectKeysPage() {
  const [adding, setAdding] = useState(false)
  const may = useCan('projects.write')
  useKeys(may.allowed ? [{ keys: 'n', label: texts.add, group: 'Page' as const, run: () => setAdding(true) }] : [])
  return (
    <ProjectPart
      title={settingsTexts.keys}
      lead={texts.lead}
      heightPx={180}
      actions={
        <Button icon="plus" keys={may.allowed ? 'n' : undefined} why={may.why} onClick={() => setAdding(true)}>
          {texts.add}
        </Button>
      }
    >
      {(project, why) => (
        <>
          <KeyCards project={project} why={why} />
          {adding ? <KeyDialog project={project} onClose={() => setAdding(false)} /> : null}
        </>
      )}
    </ProjectPart>
  )
}

function KeyCards({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const settings = useQuery({
    ...projectSettingsQuery(project.id),
    refetchInterval: COUNTERS_MS,
    meta: { quiet: true },
  })
  const intake = useQuery({ ...intakeQuery(project.id, '24h'), refetchInterval: COUNTERS_MS, meta: { quiet: true } })
  const keys = project.keys.filter((key) => key.expires_at === null)
  const active = keys.filter((key) => key.is_enabled)
  return keys.map((key) => (
    <KeyCard
      key={key.id}
      project={project}
      projectKey={key}
      isLast={active.length === 1 && active[0] === key}
      accepted={
        intake.data === undefined
          ? null
          : (intake.data.keys
              .find(({ key_id }) => key_id === key.id)
              ?.outcomes.find(({ outcome }) => outcome === 'accepted')?.quantity ?? 0)
      }
      // A rotated key has the name of the one that it replaced.
      old={project.keys.filter((one) => one.expires_at !== null && one.name === key.name)}
      why={why}
      onExpired={() => void settings.refetch()}
    />
  ))
}

type KeyCardProps = {
  project: ProjectSettings
  projectKey: Key
  /** No other key is active: it stays. */
  isLast: boolean
  accepted: number | null
  /** The keys before it. */
  old: readonly Key[]
  why: string | undefined
  onExpired: () => void
}

function KeyCard({ project, projectKey: key, isLast, accepted, old, why, onExpired }: KeyCardProps) {
  const [open, setOpen] = useState<'rotate' | 'edit' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const params = { projectId: project.id, keyId: key.id }
  const toggle = useChange({
    send: () => call('PATCH /api/projects/:projectId/keys/:keyId', { params, body: { is_enabled: !key.is_enabled } }),
    touches: () => [['projects']],
    said: ({ name, is_enabled }) => (is_enabled ? texts.enabledSaid(name) : texts.disabledSaid(name)),
    failed: texts.changeFailed,
  })
  const remove = useChange({
    send: () => call('DELETE /api/projects/:projectId/keys/:keyId', { params }),
    touches: () => [['projects']],
    said: () => texts.removed(key.name),
    failed: texts.changeFailed,
  })
  const keeps = why ?? (isLast ? texts.lastKey : undefined)
  const rate = formatCount(key.rate_limit_per_minute ?? project.rate_limit_per_minute ?? texts.defaultRate)
  return (
    <Card aria-label={key.name} className={styles.key}>
      <div className={classNames(styles.head, narrowStyles.wrapsAt352)}>
        <b>{key.name}</b>
        {key.is_enabled ? null : <Badge tone="amber">{texts.disabled}</Badge>}
        <Spacer />
        <Button icon="rotate" why={why} onClick={() => setOpen('rotate')}>
          {texts.rotate}
        </Button>
        <Menu
          label={texts.more(key.name)}
          align="end"
          entries={[
            { label: texts.edit, icon: 'pencil', why, onSelect: () => setOpen('edit') },
            key.is_enabled
              ? { label: texts.disable, icon: 'lock', why: keeps, onSelect: () => toggle.mutate(undefined) }
              : { label: texts.enable, icon: 'check', why, onSelect: () => toggle.mutate(undefined) },
            { label: texts.remove, icon: 'trash', danger: true, why: keeps, onSelect: () => setOpen('remove') },
          ]}
          trigger={<IconButton look="ghost" icon="more" label={texts.more(key.name)} />}
        />
      </div>
      <div className={classNames(settingsStyles.dsn, fitStyles.bareInput)}>
        <InputBox>
          <input
            className={typeStyles.mono}
            readOnly
            aria-label={texts.dsn}
            value={key.dsn}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton size="sm" text={key.dsn} said={texts.dsnCopied} />
        </InputBox>
      </div>
      {old.map((one) => (
        <OldKey key={one.id} oldKey={one} onExpired={onExpired} />
      ))}
      <dl className={classNames(settingsStyles.keyValues, typeStyles.metaTerms)}>
        <div>
          <dt>{texts.rate}</dt>
          <dd>{key.rate_limit_per_minute === null ? texts.perMinuteOfProject(rate) : texts.perMinute(rate)}</dd>
        </div>
        <div>
          <dt>{texts.events}</dt>
          <dd>
            {accepted === null ? (
              NO_DATA
            ) : (
              <Link {...paths.intake({ project: project.id })}>{formatCount(accepted)}</Link>
            )}
          </dd>
        </div>
        <div>
          <dt>{texts.lastUsed}</dt>
          <dd>{key.last_seen_at === null ? texts.never : <Time at={key.last_seen_at} as="since" />}</dd>
        </div>
        <div>
          <dt>{texts.created}</dt>
          <dd>
            <Time at={key.created_at} as="moment" />
          </dd>
        </div>
      </dl>
      {open === 'rotate' ? <RotateDialog params={params} onClose={close} /> : null}
      {open === 'edit' ? <KeyDialog project={project} projectKey={key} onClose={close} /> : null}
      {open === 'remove' ? (
        <ConfirmDialog
          title={texts.removeTitle(key.name)}
          text={texts.removeText}
          submit={texts.remove}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined, { onSettled: close })}
          onClose={close}
        />
      ) : null}
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
function RotateDialog({ params, onClose }: { params: { projectId: string; keyId: string }; onClose: () => void }) {
  const rotate = useChange({
    send: () =>
      call('POST /api/projects/:projectId/rotate-dsn', {
        params: { projectId: params.projectId },
        body: { key_id: params.keyId },
      }),
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
