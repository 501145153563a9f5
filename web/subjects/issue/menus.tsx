import { SEVERITIES } from '#shared/issue-values.ts'
import { useState, type ReactNode } from 'react'
import type { Edit, Resolution } from './changes.ts'
import type { Issue, Severity as SeverityName } from '../../api/issue-queries.ts'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Severity, SEVERITY_NAMES } from '../../ui/status.tsx'
import { decideTexts } from './decide-texts.ts'
import { changeTexts } from './change-texts.ts'
import { useAsk, type Ask } from './decide.tsx'
import { shortVersion } from './trend.ts'
import { AssigneePicker } from './assignee-picker.tsx'
import styles from './menus.module.css'

const LETTERS: Readonly<Record<SeverityName, string>> = { critical: 'c', high: 'h', medium: 'm', low: 'l' }

type ChangeMenuProps = {
  trigger: ReactNode
  /** The menu marks the value that they share. */
  issues: readonly Issue[]
  onEdit: (edit: Edit) => void
  open?: boolean | undefined
  onOpenChange?: (open: boolean) => void
  align?: 'start' | 'end' | 'center'
  side?: 'top' | 'bottom'
}

/** Chooses the assignee among all members. */
export function AssigneeMenu({ issues, onEdit, trigger, open, onOpenChange, align, side }: ChangeMenuProps) {
  const [ownOpen, setOwnOpen] = useState(false)
  const setOpen = onOpenChange ?? setOwnOpen
  const [first] = issues
  const isSame = first !== undefined && issues.every((issue) => issue.assignee_id === first.assignee_id)
  return (
    <Popover
      label={changeTexts.assignee}
      trigger={trigger}
      open={open ?? ownOpen}
      onOpenChange={setOpen}
      className={styles.panel}
      {...(align === undefined ? {} : { align })}
      {...(side === undefined ? {} : { side })}
    >
      <AssigneePicker
        assigneeId={isSame ? first.assignee_id : undefined}
        onChoose={(assignee) => {
          setOpen(false)
          onEdit({ kind: 'assignee', assignee })
        }}
      />
    </Popover>
  )
}

export function SeverityMenu({ issues, onEdit, ...menu }: ChangeMenuProps) {
  const pinned = issues.some((issue) => issue.severity_pinned)
  const entries: MenuEntry[] = [
    { kind: 'heading', label: changeTexts.severity },
    ...SEVERITIES.map((severity): MenuEntry => ({
      label: SEVERITY_NAMES[severity],
      icon: { element: <Severity severity={severity} word={false} /> },
      letter: LETTERS[severity],
      checked: issues.length > 0 && issues.every((issue) => issue.severity === severity),
      onSelect: () => onEdit({ kind: 'severity', severity }),
    })),
    ...(pinned
      ? ([
          { kind: 'separator' },
          { label: changeTexts.automatic, letter: 'r', onSelect: () => onEdit({ kind: 'severity', severity: null }) },
        ] satisfies MenuEntry[])
      : []),
  ]
  return <Menu label={changeTexts.severity} entries={entries} {...menu} />
}

/** The last release of the issues, if it is the same for all. */
function sameRelease(issues: readonly Issue[]): string | null {
  const [first] = issues
  const release = first?.last_release ?? null
  return release !== null && issues.every((issue) => issue.last_release === release) ? release : null
}

type Decide = { issues: readonly Issue[]; onEdit: (edit: Edit) => void }

function useResolveEntries({ issues, onEdit }: Decide): MenuEntry[] {
  const ask = useAsk()
  const release = sameRelease(issues)
  const asking = (kind: Ask) => () => ask({ ask: kind, release, onEdit })
  const resolve = (resolution: Resolution) => () => onEdit({ kind: 'status', status: 'resolved', resolution })
  return [
    { kind: 'heading', label: decideTexts.resolveIn },
    { label: decideTexts.now, icon: 'check', letter: 'n', onSelect: resolve({ now: true }) },
    { label: decideTexts.nextRelease, icon: 'tag', letter: 'x', onSelect: resolve({ in_next_release: true }) },
    ...(release === null
      ? []
      : [
          {
            label: decideTexts.inRelease(shortVersion(release)),
            icon: 'tag',
            note: decideTexts.thisRelease,
            letter: 't',
            onSelect: resolve({ in_release: release }),
          } satisfies MenuEntry,
        ]),
    { label: decideTexts.otherRelease, icon: 'tag', letter: 'o', onSelect: asking('release') },
    { label: decideTexts.commit, icon: 'commit', letter: 'c', onSelect: asking('commit') },
  ]
}

function useIgnoreEntries({ onEdit }: Decide): MenuEntry[] {
  const ask = useAsk()
  const asking = (kind: Ask) => () => ask({ ask: kind, release: null, onEdit })
  return [
    { kind: 'heading', label: decideTexts.ignoreUntil },
    {
      label: decideTexts.escalating,
      icon: 'st-escalated',
      letter: 'e',
      onSelect: () => onEdit({ kind: 'status', status: 'ignored', ignore_until: { escalating: true } }),
    },
    { label: decideTexts.count, icon: 'issues', letter: 'v', onSelect: asking('count') },
    { label: decideTexts.users, icon: 'user', letter: 'u', onSelect: asking('users') },
    { label: decideTexts.time, icon: 'clock', letter: 'd', onSelect: asking('time') },
    {
      label: decideTexts.forever,
      icon: 'st-ignored',
      letter: 'g',
      onSelect: () => onEdit({ kind: 'status', status: 'ignored' }),
    },
  ]
}

/** How it is resolved: now, in a release, in a commit. */
export function ResolveMenu({ issues, onEdit, ...menu }: ChangeMenuProps) {
  return <Menu label={decideTexts.resolveMenu} entries={useResolveEntries({ issues, onEdit })} {...menu} />
}

/** Until when it is ignored. */
export function IgnoreMenu({ issues, onEdit, ...menu }: ChangeMenuProps) {
  return <Menu label={decideTexts.ignoreMenu} entries={useIgnoreEntries({ issues, onEdit })} {...menu} />
}

/** Every change of status, for a row of the stream. */
export function StatusMenu({ issues, onEdit, ...menu }: ChangeMenuProps) {
  const resolve = useResolveEntries({ issues, onEdit })
  const ignore = useIgnoreEntries({ issues, onEdit })
  const closed = issues.some(({ status }) => status === 'resolved' || status === 'ignored')
  const reopen: MenuEntry[] = closed
    ? [
        {
          label: decideTexts.reopen,
          icon: 'rotate',
          letter: 'r',
          onSelect: () => onEdit({ kind: 'status', status: 'unresolved' }),
        },
        { kind: 'separator' },
      ]
    : []
  return (
    <Menu
      label={decideTexts.statusMenu}
      entries={[...reopen, ...resolve, { kind: 'separator' }, ...ignore]}
      {...menu}
    />
  )
}
