import { useCan } from '../can.ts'
import type { Edit } from '../api/issue-changes.ts'
import type { Issue } from '../api/issue-queries.ts'
import { OwnerMenu, SeverityMenu } from '../components/issue-menus.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { issues as words } from '../words/issues.ts'

export type OpenMenu = 'owner' | 'severity' | null

type BulkBarProps = {
  issues: readonly Issue[]
  onEdit: (edit: Edit) => void
  onDelete: () => void
  onClear: () => void
  menu: OpenMenu
  onMenu: (menu: OpenMenu) => void
}

/** What a key or a button does to these issues: closed ones are opened again, others are closed. */
export const resolveEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'resolved') ? 'unresolved' : 'resolved',
})
export const ignoreEdit = (issues: readonly Issue[]): Edit & { kind: 'status' } => ({
  kind: 'status',
  status: issues.length > 0 && issues.every((issue) => issue.status === 'ignored') ? 'unresolved' : 'ignored',
})

/** Stands at the foot while rows are selected. */
export function BulkBar({ issues, onEdit, onDelete, onClear, menu, onMenu }: BulkBarProps) {
  const change = useCan('issue.change')
  const remove = useCan('issue.delete')
  const resolve = resolveEdit(issues)
  const ignore = ignoreEdit(issues)
  return (
    <div className="bulk" role="toolbar" aria-label={words.bulk(issues.length)}>
      <span className="bulk-n">
        <b>{formatCount(issues.length)}</b> {words.selected}
      </span>
      <span className="grp">
        <Button
          icon={resolve.status === 'resolved' ? 'check' : 'rotate'}
          keys="r"
          why={change.why}
          onClick={() => onEdit(resolve)}
        >
          {resolve.status === 'resolved' ? words.resolve : words.reopen}
        </Button>
        <Button
          icon={ignore.status === 'ignored' ? 'st-ignored' : 'rotate'}
          keys="i"
          why={change.why}
          onClick={() => onEdit(ignore)}
        >
          {ignore.status === 'ignored' ? words.ignore : words.reopen}
        </Button>
        <OwnerMenu
          issues={issues}
          onEdit={onEdit}
          side="top"
          open={menu === 'owner'}
          onOpenChange={(open) => onMenu(open && change.allowed ? 'owner' : null)}
          trigger={
            <Button icon="user" keys="a" why={change.why}>
              {words.assign}
            </Button>
          }
        />
        <SeverityMenu
          issues={issues}
          onEdit={onEdit}
          side="top"
          open={menu === 'severity'}
          onOpenChange={(open) => onMenu(open && change.allowed ? 'severity' : null)}
          trigger={
            <Button icon="sv-high" keys="s" why={change.why}>
              {words.setSeverity}
            </Button>
          }
        />
      </span>
      <IconButton
        look="ghost"
        icon="trash"
        label={words.deleteMany(issues.length)}
        why={remove.why}
        onClick={onDelete}
      />
      <IconButton look="ghost" icon="x" label={words.clearSelection} keys="escape" onClick={onClear} />
    </div>
  )
}
