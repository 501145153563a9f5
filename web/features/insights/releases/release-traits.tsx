import type { ReleaseDetail } from '../../../api/release-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatShare } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { releasesTexts } from './texts.ts'
import { gradeCrashFree } from './model.ts'
import { CrashFree } from './table.tsx'
import typeStyles from '../../../ui/type.module.css'

/** Devices and systems of the release with crash-free rates; absent if no session names them. */
export function Traits({ release }: { release: ReleaseDetail }) {
  const parts = (['devices', 'systems'] as const).filter((part) => release[part].some(({ name }) => name !== null))
  if (parts.length === 0) return null
  return (
    <div className={parts.length === 1 ? fitStyles.gapAfter : classNames(fitStyles.pair, narrowStyles.oneColumnAt924)}>
      {parts.map((part) => (
        <Card as="div" key={part} title={releasesTexts.traits[part]} header={<Minor>{releasesTexts.traitNote}</Minor>}>
          <DataTable
            scrollLabel={releasesTexts.traits[part]}
            rows={release[part]}
            keyOf={({ name }) => name ?? ''}
            columns={[
              {
                head: releasesTexts.traitColumns[part],
                cell: ({ name }) => name ?? <span className={typeStyles.quiet}>{releasesTexts.unknownTrait}</span>,
              },
              { head: releasesTexts.sessions, numeric: true, cell: ({ sessions }) => formatCount(sessions) },
              { head: releasesTexts.columns.share, numeric: true, cell: ({ share }) => formatShare(share) },
              {
                head: releasesTexts.crashFree,
                numeric: true,
                cell: ({ crash_free_sessions: free }) => <CrashFree value={free} grade={gradeCrashFree(free)} />,
              },
            ]}
          />
        </Card>
      ))}
    </div>
  )
}
