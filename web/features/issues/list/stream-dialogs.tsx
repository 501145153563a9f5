import { MAX_BULK_ISSUES } from '#shared/limits.ts'
import { lazy, Suspense } from 'react'
import { BulkBar } from './bulk.tsx'
import type { StreamModel } from './stream-commands.ts'

const MergeIntoDialog = lazy(() =>
  import('./merge-into-dialog.tsx').then((module) => ({ default: module.MergeIntoDialog })),
)
const DeleteDialog = lazy(() =>
  import('../../../subjects/issue/delete-dialog.tsx').then((module) => ({ default: module.IssueDeleteDialog })),
)

/** The bar of selected issues, and the dialogs that ask before a change. */
export function StreamDialogs({ stream, state, dispatch, commands }: StreamModel) {
  const { rows, total, totalCapped, since } = stream
  const { selection, everything, merging, deleting, bulkMenu } = state
  const { targets, all } = commands
  const canSelectAll = selection.selected.size === rows.length && total > rows.length && since !== null
  return (
    <>
      {selection.selected.size === 0 || targets.length === 0 ? null : (
        <BulkBar
          issues={targets}
          all={everything ? total : null}
          offer={!canSelectAll || everything ? null : totalCapped || total > MAX_BULK_ISSUES ? 'too many' : total}
          onAll={(everything) => dispatch({ kind: 'everything', everything })}
          onEdit={(next) => commands.apply(targets, next)}
          onMerge={commands.askMerge}
          cannotMerge={commands.cannotMerge}
          onDelete={() => commands.canDelete && dispatch({ kind: 'open', opened: { deleting: targets } })}
          onClear={commands.clear}
          menu={bulkMenu}
          onMenu={(bulkMenu) => dispatch({ kind: 'open', opened: { bulkMenu } })}
        />
      )}
      {merging === null ? null : (
        <Suspense fallback={null}>
          <MergeIntoDialog
            {...merging}
            onClose={() => dispatch({ kind: 'open', opened: { merging: null } })}
            onMerge={(into) => commands.runMerge(into, merging.issues)}
          />
        </Suspense>
      )}
      {deleting === null ? null : (
        <Suspense fallback={null}>
          <DeleteDialog
            issues={deleting}
            total={all?.total}
            onClose={() => dispatch({ kind: 'open', opened: { deleting: null } })}
            onDelete={() => commands.runDelete(deleting)}
          />
        </Suspense>
      )}
    </>
  )
}
