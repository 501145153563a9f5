import { lazy, Suspense } from 'react'
import { useRunningOperations } from '../../../api/operations.ts'
import { useRefused } from '../../../subjects/issue/refused.ts'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { bulkTexts } from './bulk-texts.ts'
import issuesStyles from './issues.module.css'
import styles from './progress.module.css'

const RefusedDialog = lazy(() =>
  import('./refused-dialog.tsx').then((module) => ({ default: module.IssueRefusedDialog })),
)

/** The progress of bulk operations in the background, and what they could not change; loaded when there is one. */
export const BulkRuns = () => (
  <>
    <BulkProgress />
    <BulkRefused />
  </>
)

/** The dialog of issues that could not be changed, loaded on demand. */
function BulkRefused() {
  const refused = useRefused()
  return refused === null ? null : (
    <Suspense fallback={null}>
      <RefusedDialog refused={refused} />
    </Suspense>
  )
}

/** The progress of bulk operations that run in the background. */
function BulkProgress() {
  const operations = useRunningOperations()
  return operations.map((operation) => (
    <div
      key={operation.id}
      className={classNames(issuesStyles.bulk, narrowStyles.wrapsAt600, styles.bulkRun)}
      data-foot-bar="selection"
    >
      <span className={issuesStyles.bulkN} id={`run-${operation.id}`}>
        {bulkTexts.running[operation.kind]}
      </span>
      <progress aria-labelledby={`run-${operation.id}`} max={operation.total} value={operation.done} />
      <span className={styles.progress}>
        {bulkTexts.progress(formatCount(operation.done), formatCount(operation.total))}
      </span>
    </div>
  ))
}
