import { Link } from '@tanstack/react-router'
import { lazy, memo, Suspense, type CSSProperties, type MouseEvent, type ReactNode } from 'react'
import type { Edit } from '../../../subjects/issue/changes.ts'
import type { Issue } from '../../../api/issue-queries.ts'
import { paths } from '../../../address/paths.ts'
import { formatCount, formatDuration, formatFactor, formatShortCount } from '../../../ui/format.ts'
import { Sparkline } from '../../../ui/chart/sparkline.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { Avatar } from '../../../ui/avatar.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Severity, SEVERITY_NAMES, Status, STATUS_NAMES } from '../../../ui/status.tsx'
import { issuesTexts } from './texts.ts'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import {
  findLevelStart,
  isNew,
  trendPeak,
  stepFactor,
  trendSum,
  trendTone,
  shortVersion,
} from '../../../subjects/issue/trend.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import issuesStyles from './issues.module.css'
import styles from './row.module.css'
import typeStyles from '../../../ui/type.module.css'

const menus = () => import('../../../subjects/issue/menus.tsx')
const AssigneeMenu = lazy(() => menus().then((module) => ({ default: module.AssigneeMenu })))
const SeverityMenu = lazy(() => menus().then((module) => ({ default: module.SeverityMenu })))
const StatusMenu = lazy(() => menus().then((module) => ({ default: module.StatusMenu })))

export type RowMenu = 'assignee' | 'severity' | 'status' | null

type IssueRowProps = {
  issue: Issue
  /** The platform of its project. */
  kind: string | undefined
  /** Row number in the table: the head is row 1. */
  position: number
  now: number
  selected: boolean
  cursor: boolean
  /** Project and range of the list, kept in the link. */
  search: { project?: string | undefined; range?: '1h' | '24h' | '7d' | '30d' | undefined }
  /** The time of the counts, such as `the last 24 hours`. */
  time: string
  onToggle: (id: string, range: boolean) => void
  onOpen: (id: string) => void
  /** Whether the member may change the issue: severity and assignee are buttons then. */
  canChange: boolean
  /** The open menu of this row. */
  menu: RowMenu
  onMenu: (id: string, menu: RowMenu) => void
  onEdit: (issue: Issue, edit: Edit) => void
  style?: CSSProperties | undefined
  measure?: ((element: HTMLElement | null) => void) | undefined
  index: number
}

/** A row of the stream: of fixed height on wide screens, a card on phones. */
export const IssueRow = memo(function IssueRow(props: IssueRowProps) {
  const { issue, kind, position, now, selected, cursor, search, time, onToggle, onOpen, style, measure, index } = props
  const tone = trendTone(issue, now)
  const events = issue.event_count_in_range ?? issue.event_count
  const users = issue.user_count_in_range

  const open = (event: MouseEvent<HTMLElement>) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    // The second click of a double click on the bulk bar that was above this row.
    if (event.detail < 2) onOpen(issue.id)
  }
  const onRow = (event: MouseEvent<HTMLElement>) => {
    const pressed =
      event.target instanceof Element ? event.target.closest('a, button, input, label, [role="menu"]') : null
    if (pressed !== null || getSelection()?.isCollapsed === false) return
    open(event)
  }

  return (
    // Keys use the link inside; the row is a larger target for the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      ref={measure}
      role="row"
      aria-rowindex={position + 1}
      data-id={issue.id}
      data-index={index}
      className={classNames(issuesStyles.issue, choiceStyles.row)}
      data-selected={selected || undefined}
      data-cursor={cursor || undefined}
      style={style}
      onClick={onRow}
    >
      <span role="cell" className={issuesStyles.cellCheck}>
        <label className={classNames(issuesStyles.cellCheck, fitStyles.fullWidth)}>
          <input
            type="checkbox"
            checked={selected}
            aria-label={issuesTexts.select(issue.short_id)}
            onChange={(event) =>
              onToggle(issue.id, event.nativeEvent instanceof MouseEvent ? event.nativeEvent.shiftKey : false)
            }
          />
        </label>
      </span>
      <span role="cell" className={issuesStyles.cellSev}>
        <SeverityCell {...props} />
      </span>
      <div role="rowheader" className={issuesStyles.cellTitle}>
        <Link
          {...paths.issue(issue.id, search)}
          className={classNames(issuesStyles.link, typeStyles.headNames, fitStyles.block, fitStyles.ellipsis)}
          data-row-link
          onClick={open}
        >
          <b>{splitTitle(issue).name}</b>{' '}
          {splitTitle(issue).rest === null ? null : <span className={typeStyles.soft}>{splitTitle(issue).rest}</span>}
        </Link>
        <Minor as="p" className={issuesStyles.meta}>
          <PlatformTile platform={issue.platform} kind={kind} />
          <ShortId data-short-id>{issue.short_id}</ShortId>
          <span className={classNames(issuesStyles.metaAge, typeStyles.figures)}>
            <span className={typeStyles.hidden}>{issuesTexts.sorts.last_seen} </span>
            <Time at={issue.last_seen} as="since" />
          </span>
          {issue.culprit === '' ? null : (
            <span className={classNames(styles.culprit, narrowStyles.hiddenAt600)}>{issue.culprit}</span>
          )}
          <Flags issue={issue} now={now} />
        </Minor>
      </div>
      <span role="cell" className={issuesStyles.cellTrend}>
        <Sparkline
          counts={issue.trend.counts}
          tone={tone}
          split={findLevelStart(issue, now)}
          label={issuesTexts.trendOf(time, trendSum(issue.trend), trendPeak(issue.trend), stepOf(issue))}
        />
      </span>
      <span
        role="cell"
        className={classNames(issuesStyles.cellEv, fitStyles.textEnd, typeStyles.medium, typeStyles.figures)}
        title={issuesTexts.eventsIn(events, time, issue.event_count)}
      >
        {formatCell(events)}
        <span className={issuesStyles.cellW}> {issuesTexts.eventsUnit(events)}</span>
        <span className={typeStyles.hidden}>{issuesTexts.inTotal(issue.event_count)}</span>
      </span>
      <span
        role="cell"
        className={classNames(issuesStyles.cellUs, typeStyles.soft, fitStyles.textEnd, typeStyles.figures)}
        title={users === null ? issuesTexts.usersUnknown : issuesTexts.usersIn(users, time, issue.user_count)}
      >
        {users === null ? formatCount(null) : formatCell(users)}
        <span className={issuesStyles.cellW}> {issuesTexts.usersUnit(users ?? 0)}</span>
        <span className={typeStyles.hidden}>{issuesTexts.inTotal(issue.user_count)}</span>
      </span>
      <span role="cell" className={classNames(issuesStyles.cellAge, fitStyles.tight, narrowStyles.hiddenAt924)}>
        <Time at={issue.last_seen} as="age" />
        <span className={typeStyles.meta}>
          <Time at={issue.first_seen} as="age" />
        </span>
      </span>
      <span role="cell" className={issuesStyles.cellSt}>
        <StatusCell {...props} />
      </span>
      <span role="cell" className={issuesStyles.cellWho}>
        <AssigneeCell {...props} />
      </span>
    </div>
  )
})

/** The menu is mounted only while it is open. */
function AssigneeCell(cell: IssueRowProps) {
  const { issue, canChange } = cell
  if (!canChange) return <Avatar user={issue.assignee} />
  const name = issue.assignee === null ? issuesTexts.unassigned : issue.assignee.name
  return (
    <MenuCell {...cell} name="assignee" Menu={AssigneeMenu} align="end" title={name}>
      <span className={typeStyles.hidden}>{issuesTexts.assigneeOf(issue.short_id, name)}</span>
      <Avatar user={issue.assignee} quiet />
    </MenuCell>
  )
}

function SeverityCell(cell: IssueRowProps) {
  const { issue, canChange } = cell
  const icon = <Severity severity={issue.severity} word={false} />
  if (!canChange) return icon
  const name = SEVERITY_NAMES[issue.severity]
  return (
    <MenuCell
      {...cell}
      name="severity"
      Menu={SeverityMenu}
      aria-label={issuesTexts.severityOf(issue.short_id, name)}
      title={name}
    >
      {icon}
    </MenuCell>
  )
}

function StatusCell(cell: IssueRowProps) {
  const { issue, canChange } = cell
  const status = <Status status={issue.status} />
  if (!canChange) return status
  return (
    <MenuCell
      {...cell}
      name="status"
      Menu={StatusMenu}
      align="end"
      className={styles.cellBtnSt}
      aria-label={issuesTexts.statusOf(issue.short_id, STATUS_NAMES[issue.status])}
      title={issue.status_reason ?? undefined}
    >
      {status}
    </MenuCell>
  )
}

type MenuCellProps = IssueRowProps & {
  name: NonNullable<RowMenu>
  Menu: typeof AssigneeMenu | typeof SeverityMenu | typeof StatusMenu
  align?: 'end'
  className?: string | undefined
  title: string | undefined
  'aria-label'?: string
  children: ReactNode
}

/** A value of an issue that is a button; the menu that changes it is loaded when it opens. */
function MenuCell({ issue, menu, onMenu, onEdit, name, Menu, align, className, children, ...rest }: MenuCellProps) {
  const shared = {
    type: 'button',
    className: classNames(styles.cellBtn, choiceStyles.presses, className),
    title: rest.title,
    'aria-label': rest['aria-label'],
  } as const
  if (menu !== name)
    return (
      <button {...shared} aria-haspopup="menu" onClick={() => onMenu(issue.id, name)}>
        {children}
      </button>
    )
  const trigger = <button {...shared}>{children}</button>
  return (
    <Suspense fallback={trigger}>
      <Menu
        issues={[issue]}
        align={align}
        open
        onOpenChange={(open) => onMenu(issue.id, open ? name : null)}
        onEdit={(edit) => onEdit(issue, edit)}
        trigger={trigger}
      />
    </Suspense>
  )
}

/** Longer counts do not fit into the column of 62 px and are shortened. */
const formatCell = (count: number): string => (count < 1_000_000 ? formatCount(count) : formatShortCount(count))

function stepOf({ trend: { interval_seconds: seconds } }: Issue): string {
  if (seconds === 3_600) return issuesTexts.perHour
  return seconds === 86_400 ? issuesTexts.perDay : formatDuration(seconds * 1000)
}

/** At most two notes, the most important first. */
function Flags({ issue, now }: { issue: Issue; now: number }) {
  const flags: ReactNode[] = []
  if (issue.status === 'regressed') {
    flags.push(
      <Badge key="back" tone="violet" icon="st-regressed">
        {issue.last_release === null
          ? issuesTexts.regressed
          : issuesTexts.regressedIn(shortVersion(issue.last_release))}
      </Badge>,
    )
  }
  const factor = stepFactor(issue, now)
  if (factor !== null) {
    flags.push(
      <Badge key="factor" tone="vermilion" icon="st-escalated">
        {issuesTexts.overBaseline(formatFactor(factor))}
      </Badge>,
    )
  }
  if (isNew(issue, now)) {
    flags.push(
      <Badge key="new" tone="blue" icon="spark">
        {issuesTexts.new}
      </Badge>,
    )
  }
  if (issue.tracker_ticket !== null) {
    flags.push(
      <Badge key="ticket" tone="plain" icon="ticket">
        {issue.tracker_ticket.id}
      </Badge>,
    )
  }
  if (issue.is_unhandled) {
    flags.push(
      <Badge key="unhandled" tone="plain" icon="bolt">
        {issuesTexts.unhandled}
      </Badge>,
    )
  }
  return flags.slice(0, 2)
}
