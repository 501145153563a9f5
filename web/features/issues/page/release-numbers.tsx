import type { IssueDetail } from '../../../api/issue-queries.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { Card } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import fitStyles from '../../../ui/fit.module.css'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Minor } from '../../../ui/text.tsx'
import { codeTexts } from './code-texts.ts'

const texts = codeTexts.numbers

/** How much changed in the first release of the issue. */
export function ReleaseNumbers({ code: { release, provider } }: Pick<IssueDetail, 'code'>) {
  // Without a code host the place of suspect commits offers to connect one.
  if (release === null || (release.numbers === null && provider === null)) return null
  const version = shortVersion(release.version)
  const { numbers, commit_count: count, since } = release
  return (
    <Card title={texts.title(version)}>
      {numbers === null ? (
        <Minor as="p" className={fitStyles.inset12}>
          {texts.none(version)}
        </Minor>
      ) : (
        <>
          <KeyValues>
            <Figure
              name={texts.commits}
              value={texts.commitCount(count, since === null ? null : shortVersion(since.version))}
            />
            <Figure name={texts.authors} value={formatCount(numbers.authors)} />
            {numbers.files === null ? null : (
              <Figure name={texts.files} value={texts.fileCount(numbers.files, numbers.are_files_cut)} />
            )}
            {numbers.pulls === 0 ? null : (
              <Figure name={texts.pulls[provider ?? 'github']} value={formatCount(numbers.pulls)} />
            )}
          </KeyValues>
          {numbers.commits < count ? (
            <Minor as="p" className={fitStyles.inset12}>
              {texts.newest(numbers.commits)}
            </Minor>
          ) : null}
        </>
      )}
    </Card>
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
