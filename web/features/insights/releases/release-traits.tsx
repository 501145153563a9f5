import type { ReleaseDetail } from '../../../api/release-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatShare } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Table, ColumnHead, NumberCell } from '../../../ui/table.tsx'
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
          <Table scrollLabel={releasesTexts.traits[part]}>
            <thead>
              <tr>
                <ColumnHead>{releasesTexts.traitColumns[part]}</ColumnHead>
                <ColumnHead numeric>{releasesTexts.sessions}</ColumnHead>
                <ColumnHead numeric>{releasesTexts.columns.share}</ColumnHead>
                <ColumnHead numeric>{releasesTexts.crashFree}</ColumnHead>
              </tr>
            </thead>
            <tbody>
              {release[part].map(({ name, sessions, share, crash_free_sessions: crashFree }) => (
                <tr key={name ?? ''}>
                  <th scope="row">{name ?? <span className={typeStyles.quiet}>{releasesTexts.unknownTrait}</span>}</th>
                  <NumberCell>{formatCount(sessions)}</NumberCell>
                  <NumberCell>{formatShare(share)}</NumberCell>
                  <NumberCell>
                    <CrashFree value={crashFree} grade={gradeCrashFree(crashFree)} />
                  </NumberCell>
                </tr>
              ))}
            </tbody>
          </Table>
        </Card>
      ))}
    </div>
  )
}
