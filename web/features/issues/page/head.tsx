import { Link, useNavigate } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import type { Edit } from '../../../subjects/issue/changes.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { useCan } from '../../../app/can.ts'
import { paths } from '../../../address/paths.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import { Button, IconButton, buttonLook } from '../../../ui/button.tsx'
import { CopyButton, copyAndSay } from '../../../ui/copy-button.tsx'
import { Crumbs } from '../../../ui/crumbs.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Avatar } from '../../../ui/avatar.tsx'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Severity, SEVERITY_NAMES, Status } from '../../../ui/status.tsx'
import { ShortId } from '../../../ui/text.tsx'
import { decideTexts } from '../../../subjects/issue/decide-texts.ts'
import { mergeTexts } from './merge-texts.ts'
import { issueTexts } from './texts.ts'
import { assistantTexts } from '../../../subjects/assistant/texts.ts'
import { commentsTexts } from './comments/texts.ts'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import { IgnoreMenu, AssigneeMenu, ResolveMenu, SeverityMenu } from '../../../subjects/issue/menus.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { safeUrl } from '../../../ui/safe-url.ts'
import { useFollow } from './follow.ts'
import { FollowButton } from './follow-button.tsx'
import styles from './head.module.css'
import typeStyles from '../../../ui/type.module.css'
import { Spacer } from '../../../ui/stack.tsx'

export type Neighbours = { at: number; of: number; capped: boolean; previous: string | null; next: string | null }

type TrailProps = {
  issue: IssueDetail
  /** The last stream. */
  back: IssuesSearch
  neighbours: Neighbours | null
  onGo: (issueId: string) => void
}

const linkOf = (issueId: string): string => `${location.origin}/issues/${issueId}`

/** The way back to the list, the issue's id, and its neighbours. */
export function IssueTrail({ issue, back, neighbours, onGo }: TrailProps) {
  return (
    <Crumbs label={issueTexts.trail} list={<Link {...paths.issues(back)}>{issueTexts.issues}</Link>}>
      <ShortId>{issue.short_id}</ShortId>
      <CopyButton iconOnly text={linkOf(issue.id)} said={issueTexts.linkCopied}>
        {issueTexts.copyLink}
      </CopyButton>
      <Spacer />
      {neighbours === null ? null : (
        <span className={styles.pager}>
          <span>
            {issueTexts.place(
              formatCount(neighbours.at),
              `${formatCount(neighbours.of)}${neighbours.capped ? '+' : ''}`,
            )}
          </span>
          <IconButton
            size="sm"
            icon="up"
            label={issueTexts.previous}
            keys="k"
            why={neighbours.previous === null ? issueTexts.noPrevious : undefined}
            onClick={() => neighbours.previous !== null && onGo(neighbours.previous)}
          />
          <IconButton
            size="sm"
            icon="down"
            label={issueTexts.next}
            keys="j"
            why={neighbours.next === null ? issueTexts.noNext : undefined}
            onClick={() => neighbours.next !== null && onGo(neighbours.next)}
          />
        </span>
      )}
    </Crumbs>
  )
}

/** The open menu, which keys can open too; the bar on phones has separate menus. */
export type HeadMenu = 'assignee' | 'severity' | null

type HeadProps = {
  issue: IssueDetail
  onEdit: (edit: Edit) => void
  onDelete: () => void
  onMerge: () => void
  onDiscard: () => void
  menu: HeadMenu
  onMenu: (menu: HeadMenu) => void
}

export const resolved = (status: IssueDetail['status']): boolean => status === 'resolved'
/** The changes of the keys R and I. */
export const onResolve = ({ status }: IssueDetail): Edit => ({
  kind: 'status',
  status: status === 'resolved' ? 'unresolved' : 'resolved',
})
export const onIgnore = ({ status }: IssueDetail): Edit => ({
  kind: 'status',
  status: status === 'ignored' ? 'unresolved' : 'ignored',
})

/** Title, main facts and actions. */
export function IssueHead({ issue, onEdit, onDelete, onMerge, onDiscard, menu, onMenu }: HeadProps) {
  const ticket = issue.tracker_ticket
  const ticketUrl = ticket === null ? null : safeUrl(ticket.url)
  const change = useCan('issues.write')
  return (
    <header className={styles.ihead}>
      <div className={styles.iheadT}>
        <h1>
          {splitTitle(issue).name} {splitTitle(issue).rest === null ? null : <span>{splitTitle(issue).rest}</span>}
        </h1>
        <div className={classNames(styles.metaRow, typeStyles.accentLinks)}>
          <Status status={issue.status} />
          {change.allowed ? (
            <SeverityMenu
              issues={[issue]}
              onEdit={onEdit}
              open={menu === 'severity'}
              onOpenChange={(open) => onMenu(open ? 'severity' : null)}
              trigger={
                <button
                  type="button"
                  className={classNames(styles.metaBtn, choiceStyles.presses)}
                  aria-label={issueTexts.severityIs(SEVERITY_NAMES[issue.severity])}
                >
                  <Severity severity={issue.severity} />
                </button>
              }
            />
          ) : (
            <Severity severity={issue.severity} />
          )}
          <span className={styles.mi}>
            <PlatformTile platform={issue.platform} kind={issue.project.platform} />
            {issue.project.name}
          </span>
          {issue.culprit === '' ? null : (
            <span className={`${typeStyles.mono} ${styles.mi} ${fitStyles.breaks}`}>{issue.culprit}</span>
          )}
          {issue.team === null ? null : (
            <span className={styles.mi} title={commentsTexts.teamHint}>
              <Icon name="org" />
              {commentsTexts.team(issue.team)}
            </span>
          )}
          {ticket === null || ticketUrl === null ? null : (
            <a className={styles.mi} href={ticketUrl} rel="noopener noreferrer" target="_blank">
              <Icon name="ticket" />
              {ticket.id}
            </a>
          )}
        </div>
      </div>
      <div className={styles.iheadA} data-foot-bar="replaced" role="toolbar" aria-label={issueTexts.actions}>
        <DecideButtons issue={issue} onEdit={onEdit} why={change.why} keys />
        <AssigneeMenu
          issues={[issue]}
          align="end"
          onEdit={onEdit}
          open={menu === 'assignee'}
          onOpenChange={(open) => onMenu(open && change.allowed ? 'assignee' : null)}
          trigger={<AssigneeButton issue={issue} why={change.why} />}
        />
        <FollowButton issueId={issue.id} />
        <MoreMenu
          issue={issue}
          onDelete={onDelete}
          onMerge={onMerge}
          onDiscard={onDiscard}
          trigger={<IconButton icon="more" label={issueTexts.more} />}
        />
      </div>
    </header>
  )
}

type DecideProps = {
  issue: IssueDetail
  onEdit: (edit: Edit) => void
  why: string | undefined
  keys?: boolean
  side?: 'top' | 'bottom'
}

/** Ignores the second press of a double click, which would undo the first: the button has changed by then. */
const once = (run: () => void) => (event: MouseEvent) => {
  if (event.detail < 2) run()
}

/** Resolve and Ignore with their usual options, and carets with menus of all options. */
function DecideButtons({ issue, onEdit, why, keys = false, side = 'bottom' }: DecideProps) {
  const menu = { issues: [issue], onEdit, side, align: side === 'top' ? 'start' : 'end' } as const
  return (
    <>
      <span className={styles.btnSplit}>
        <Button
          look="primary"
          icon={resolved(issue.status) ? 'rotate' : 'check'}
          keys={keys ? 'r' : undefined}
          why={why}
          onClick={once(() => onEdit(onResolve(issue)))}
        >
          {resolved(issue.status) ? issueTexts.reopen : issueTexts.resolve}
        </Button>
        {why === undefined ? (
          <ResolveMenu
            {...menu}
            trigger={
              <IconButton
                look="primary"
                icon="down"
                className={classNames(styles.btnCaret, fitStyles.icons12)}
                label={decideTexts.resolveMenu}
              />
            }
          />
        ) : null}
      </span>
      <span className={styles.btnSplit}>
        <Button keys={keys ? 'i' : undefined} why={why} onClick={once(() => onEdit(onIgnore(issue)))}>
          {issue.status === 'ignored' ? issueTexts.unignore : issueTexts.ignore}
        </Button>
        {why === undefined ? (
          <IgnoreMenu
            {...menu}
            trigger={
              <IconButton
                icon="down"
                className={classNames(styles.btnCaret, fitStyles.icons12)}
                label={decideTexts.ignoreMenu}
              />
            }
          />
        ) : null}
      </span>
    </>
  )
}

type AssigneeButtonProps = { issue: IssueDetail; why: string | undefined } & Record<string, unknown>

/** The trigger of the assignee menu; passes the menu's props on. */
function AssigneeButton({ issue, why, ...rest }: AssigneeButtonProps) {
  const name = issue.assignee?.name ?? issueTexts.unassigned
  return (
    <button
      type="button"
      {...rest}
      {...buttonLook({ className: styles.assignee })}
      aria-disabled={why === undefined ? undefined : true}
      title={why}
    >
      <Avatar user={issue.assignee} small quiet />
      <span>
        <span className={typeStyles.hidden}>{issueTexts.assignee} </span>
        {name}
      </span>
      <Kbd keys="a" />
    </button>
  )
}

type MoreMenuProps = Pick<HeadProps, 'issue' | 'onDelete' | 'onMerge' | 'onDiscard'> & {
  trigger: ReactNode
  side?: 'top' | 'bottom'
}

function MoreMenu({ issue, onDelete, onMerge, onDiscard, trigger, side = 'bottom' }: MoreMenuProps) {
  const remove = useCan('issues.admin')
  const change = useCan('issues.write')
  const { follows, toggle } = useFollow(issue.id)
  const navigate = useNavigate()
  return (
    <Menu
      label={issueTexts.more}
      align="end"
      side={side}
      trigger={trigger}
      entries={[
        {
          label: issueTexts.copyLink,
          icon: 'link',
          letter: 'l',
          onSelect: () => void copyAndSay(linkOf(issue.id), issueTexts.linkCopied),
        },
        {
          label: issueTexts.copyId,
          icon: 'copy',
          letter: 'c',
          note: issue.short_id,
          onSelect: () => void copyAndSay(issue.short_id, issueTexts.idCopied),
        },
        {
          label: follows ? commentsTexts.stopFollowing : commentsTexts.follow,
          icon: 'bell',
          letter: 'f',
          onSelect: toggle,
        },
        {
          label: assistantTexts.askAboutThis,
          icon: 'ask',
          letter: 'q',
          onSelect: () => void navigate(paths.ask({ project: issue.project_id, issue: issue.id })),
        },
        { kind: 'separator' },
        { label: mergeTexts.merge, icon: 'merge', letter: 'm', why: change.why, onSelect: onMerge },
        { kind: 'separator' },
        {
          label: mergeTexts.discard,
          icon: 'st-ignored',
          letter: 'x',
          danger: true,
          why: remove.why,
          onSelect: onDiscard,
        },
        { label: issueTexts.delete, icon: 'trash', letter: 'd', danger: true, why: remove.why, onSelect: onDelete },
      ]}
    />
  )
}

/** The actions at the bottom on phones. */
export function IssueStickBar({ issue, onEdit, onDelete, onMerge, onDiscard }: Omit<HeadProps, 'menu' | 'onMenu'>) {
  const change = useCan('issues.write')
  return (
    <div data-foot-bar="actions">
      <div className={styles.stickbar} role="toolbar" aria-label={issueTexts.actions}>
        <DecideButtons issue={issue} onEdit={onEdit} why={change.why} side="top" />
        {change.allowed ? (
          <AssigneeMenu issues={[issue]} side="top" onEdit={onEdit} trigger={<Button>{issueTexts.assign}</Button>} />
        ) : (
          <Button why={change.why}>{issueTexts.assign}</Button>
        )}
        <MoreMenu
          issue={issue}
          side="top"
          onDelete={onDelete}
          onMerge={onMerge}
          onDiscard={onDiscard}
          trigger={<IconButton icon="more" label={issueTexts.more} />}
        />
      </div>
    </div>
  )
}
