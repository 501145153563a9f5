import type { ReleaseDetail } from '../../api/release-queries.ts'
import { Card } from '../../ui/card.tsx'
import { formatCount } from '../../ui/format.ts'
import { releasesTexts } from './texts.ts'
import { formatShare } from './charts.tsx'
import { CrashFree } from './table.tsx'
import styles from './releases.module.css'

/** Where the release runs, and where it crashes; nothing where no session says what it ran on. */
export function Traits({ release }: { release: ReleaseDetail }) {
  const parts = (['devices', 'systems'] as const).filter((part) => release[part].some(({ name }) => name !== null))
  if (parts.length === 0) return null
  return (
    <div className={parts.length === 1 ? styles.single : styles.pair}>
      {parts.map((part) => (
        <Card
          as="div"
          key={part}
          title={releasesTexts.traits[part]}
          header={<span className="sub">{releasesTexts.traitNote}</span>}
        >
          {/* A table wider than the screen is scrolled, also with the keys. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <div className="scroll-x" role="region" aria-label={releasesTexts.traits[part]} tabIndex={0}>
            <table className="t">
              <thead>
                <tr>
                  <th scope="col">{releasesTexts.traitColumns[part]}</th>
                  <th scope="col" className="num">
                    {releasesTexts.sessions}
                  </th>
                  <th scope="col" className="num">
                    {releasesTexts.columns.share}
                  </th>
                  <th scope="col" className="num">
                    {releasesTexts.crashFree}
                  </th>
                </tr>
              </thead>
              <tbody>
                {release[part].map(({ name, sessions, share, crash_free_sessions: crashFree }) => (
                  <tr key={name ?? ''}>
                    <th scope="row">{name ?? <span className="c-3">{releasesTexts.unknownTrait}</span>}</th>
                    <td className="num">{formatCount(sessions)}</td>
                    <td className="num">{formatShare(share)}</td>
                    <td className="num">
                      <CrashFree value={crashFree} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      ))}
    </div>
  )
}
