import { useCan } from '../../../app/can.ts'
import type { Edit } from '../../../subjects/issue/changes.ts'
import type { Issue } from '../../../api/issue-queries.ts'
import { IgnoreMenu, AssigneeMenu, ResolveMenu, SeverityMenu } from '../../../subjects/issue/menus.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { TextButton } from '../../../ui/text-button.tsx'
import { decideTexts } from '../../../subjects/issue/decide-texts.ts'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { bulkTexts } from './bulk-texts.ts'
import { issuesTexts } from './texts.ts'
import { ignoreEdit, resolveEdit, type OpenMenu } from './edits.ts'
import issuesStyles from './issues.module.css'
import styles from './bulk.module.css'
import typeStyles from '../../../ui/type.module.css'

type BulkBarProps = {
  issues: readonly Issue[]
  /** The number of matching issues if all of them are selected; else null. */
  all: number | null
  /** The number of matching issues that can be selected. */
  offer: number | 'too many' | null
  onAll: (all: boolean) => void
  onEdit: (edit: Edit) => void
  onMerge: () => void
  cannotMerge: string | undefined
  onDelete: () => void
  onClear: () => void
  menu: OpenMenu
  onMenu: (menu: OpenMenu) => void
}

/** The bar at the bottom while rows are selected. */
export function BulkBar(props: BulkBarProps) {
  const { issues, all, onEdit, onMerge, cannotMerge, onDelete, onClear, menu, onMenu } = props
  const change = useCan('issues.write')
  const remove = useCan('issues.admin')
  const count = all ?? issues.length
  const resolve = resolveEdit(issues)
  const ignore = ignoreEdit(issues)
  const menuOf = (name: NonNullable<OpenMenu>) => ({
    issues,
    onEdit,
    side: 'top' as const,
    open: menu === name,
    onOpenChange: (open: boolean) => onMenu(open && change.allowed ? name : null),
  })
  const how = (label: string) => (
    <IconButton
      className={classNames(issuesStyles.bulkHow, narrowStyles.hiddenAt600)}
      icon="down"
      label={label}
      why={change.why}
    />
  )
  return (
    <div
      className={classNames(issuesStyles.bulk, narrowStyles.wrapsAt600)}
      role="toolbar"
      aria-label={bulkTexts.bulk(count)}
      data-foot-bar="selection"
    >
      <span className={issuesStyles.bulkN}>
        <b>{formatCount(count)}</b> <span>{bulkTexts.selected}</span>
      </span>
      <Matching {...props} />
      <span className={issuesStyles.grp}>
        <Button
          icon={resolve.status === 'resolved' ? 'check' : 'rotate'}
          keys="r"
          why={change.why}
          onClick={() => onEdit(resolve)}
        >
          {resolve.status === 'resolved' ? bulkTexts.resolve : bulkTexts.reopen}
        </Button>
        {resolve.status === 'resolved' ? (
          <ResolveMenu {...menuOf('resolve')} trigger={how(decideTexts.resolveMenu)} />
        ) : null}
        <Button
          icon={ignore.status === 'ignored' ? 'st-ignored' : 'rotate'}
          keys="i"
          why={change.why}
          onClick={() => onEdit(ignore)}
        >
          {ignore.status === 'ignored' ? bulkTexts.ignore : bulkTexts.reopen}
        </Button>
        {ignore.status === 'ignored' ? (
          <IgnoreMenu {...menuOf('ignore')} trigger={how(decideTexts.ignoreMenu)} />
        ) : null}
        <AssigneeMenu
          {...menuOf('assignee')}
          trigger={
            <Button icon="user" keys="a" why={change.why}>
              {issuesTexts.assign}
            </Button>
          }
        />
        <SeverityMenu
          {...menuOf('severity')}
          trigger={
            <Button icon="sv-high" keys="s" why={change.why}>
              {issuesTexts.setSeverity}
            </Button>
          }
        />
        <Button icon="merge" keys="m" why={change.why ?? cannotMerge} onClick={onMerge}>
          {issuesTexts.merge}
        </Button>
      </span>
      <IconButton look="ghost" icon="trash" label={bulkTexts.deleteMany(count)} why={remove.why} onClick={onDelete} />
      <IconButton look="ghost" icon="x" label={bulkTexts.clearSelection} keys="escape" onClick={onClear} />
    </div>
  )
}

/** Switches between all loaded and all matching issues. */
function Matching({ all, offer, onAll }: Pick<BulkBarProps, 'all' | 'offer' | 'onAll'>) {
  if (all !== null) {
    return (
      <TextButton onClick={() => onAll(false)} className={styles.bulkAll}>
        {bulkTexts.onlyLoaded}
      </TextButton>
    )
  }
  if (offer === null) return null
  if (offer === 'too many')
    return <span className={`${styles.bulkAll} ${typeStyles.quiet}`}>{bulkTexts.tooManyMatch}</span>
  return (
    <TextButton onClick={() => onAll(true)} className={styles.bulkAll}>
      {bulkTexts.matching(formatCount(offer))}
    </TextButton>
  )
}
