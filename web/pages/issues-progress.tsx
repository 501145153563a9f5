import { useRunningOperations } from '../api/operations.ts'
import { formatCount } from '../ui/format.ts'
import { issues as words } from '../words/issues.ts'

/** How far changes of many issues have come that the service goes on with. */
export function BulkProgress() {
  const operations = useRunningOperations()
  return operations.map((operation) => (
    <div key={operation.id} className="bulk bulk-run">
      <span className="bulk-n" id={`run-${operation.id}`}>
        {words.running[operation.kind]}
      </span>
      <progress aria-labelledby={`run-${operation.id}`} max={operation.total} value={operation.done} />
      <span className="num">{words.progress(formatCount(operation.done), formatCount(operation.total))}</span>
    </div>
  ))
}
