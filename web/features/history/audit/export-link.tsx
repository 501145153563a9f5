import { auditExportUrl, type AuditFilters } from '../../../api/audit-queries.ts'
import { download } from '../../../app/download.ts'
import { buttonLook } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { auditTexts as texts } from './texts.ts'

/** Downloads the entries that match the filters. */
export function ExportLink({ filters }: { filters: AuditFilters }) {
  const url = auditExportUrl(filters)
  const filename = 'audit-log.ndjson'
  return (
    <a
      {...buttonLook()}
      href={url}
      download={filename}
      title={texts.exportHint}
      onClick={(event) => void download(event, { url, filename, failed: texts.exportFailed })}
    >
      <Icon name="download" />
      <span>{texts.export}</span>
    </a>
  )
}
