import { Link } from '@tanstack/react-router'
import type { Analysis } from '../../../api/assistant-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { paths } from '../../../address/paths.ts'
import { InAppLink } from '../../../subjects/assistant/in-app-link.tsx'
import { assistantTexts } from '../../../subjects/assistant/texts.ts'
import { Button, IconButton, buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount } from '../../../ui/format.ts'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import fitStyles from '../../../ui/fit.module.css'
import typeStyles from '../../../ui/type.module.css'
import { analysisTexts as texts } from './analysis-texts.ts'
import styles from './analysis.module.css'

const EVIDENCE_ICONS: Readonly<Record<Analysis['evidence'][number]['kind'], IconName>> = {
  frame: 'code',
  breadcrumb: 'nav',
  release: 'tag',
  commit: 'commit',
  device: 'phone',
  tag: 'filter',
  trend: 'metrics',
  feedback: 'chat',
}

/** The probable cause of the issue, with what speaks for it. Made on demand, where there is none. */
export function AnalysisCard({ issue }: { issue: IssueDetail }) {
  const analysis = analysisOf(issue.ai_analysis)
  const params = { issueId: issue.id }
  const touches = () => [['issues', 'detail', issue.id]]
  const analyse = useChange({
    send: () => call('POST /api/issues/:issueId/analysis', { params }),
    touches,
    failed: texts.failed,
  })
  const rate = useChange({
    send: async (body: { analysis_id: string; feedback: Analysis['feedback'] }) => {
      await call('PUT /api/issues/:issueId/analysis/feedback', { params, body })
    },
    touches,
    said: () => texts.rated,
    failed: texts.notRated,
  })
  // The issue is read again a moment after the answer.
  const shown = analyse.data === undefined || analyse.data.id === analysis?.id ? analysis : analyse.data
  const run = () => analyse.mutate()
  return (
    <Card
      title={
        <>
          <Icon name="spark" className={typeStyles.accent} />
          {texts.title}
        </>
      }
      titleId="h-analysis"
      header={
        shown === null ? undefined : (
          <>
            <Minor>
              {shown.source === 'model' ? texts.modelDraft : texts.builtIn}, <Time at={shown.created_at} as="since" />
            </Minor>
            <Spacer />
            <IconButton
              look="ghost"
              size="sm"
              icon="rotate"
              label={texts.again}
              busy={analyse.isPending}
              onClick={run}
            />
          </>
        )
      }
    >
      {shown === null ? (
        <div className={fitStyles.insetGrid}>
          <Minor as="p">{texts.none}</Minor>
          <div>
            <Button icon="spark" busy={analyse.isPending} onClick={run}>
              {texts.analyse}
            </Button>
          </div>
        </div>
      ) : (
        <Finding
          analysis={shown}
          issue={issue}
          given={rate.isPending ? rate.variables.feedback : shown.feedback}
          onRate={(feedback) => rate.mutate({ analysis_id: shown.id, feedback })}
        />
      )}
    </Card>
  )
}

type FindingProps = {
  analysis: Analysis
  issue: IssueDetail
  given: Analysis['feedback']
  onRate: (feedback: Analysis['feedback']) => void
}

function Finding({ analysis, issue, given, onRate }: FindingProps) {
  const { evidence, suggested_diff: diff } = analysis
  return (
    <>
      <div className={classNames(styles.body, fitStyles.breaks)}>
        {analysis.is_outdated ? (
          <Minor as="p" className={typeStyles.amber}>
            {texts.outdated}
          </Minor>
        ) : null}
        <p className={styles.cause}>{analysis.cause}</p>
        <p className={styles.text}>{analysis.explanation}</p>
        {evidence.length === 0 ? null : (
          <>
            <h3>{texts.evidence}</h3>
            <ul className={classNames(styles.evidence, typeStyles.links)}>
              {evidence.map(({ kind, text, link }, index) => (
                <li key={index}>
                  <Icon name={EVIDENCE_ICONS[kind]} label={texts.kinds[kind]} />
                  <InAppLink path={link}>{text}</InAppLink>
                </li>
              ))}
            </ul>
          </>
        )}
        <h3>{texts.next}</h3>
        <p className={styles.text}>{analysis.next_step}</p>
        {diff === null ? null : (
          <>
            <h3>{texts.change}</h3>
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
            <pre className={styles.diff} tabIndex={0}>
              {diff.split('\n').map((line, index) => (
                <code key={index} data-change={line[0] === '+' || line[0] === '-' ? line[0] : undefined}>
                  {line}
                  {'\n'}
                </code>
              ))}
            </pre>
          </>
        )}
        <Minor as="p">{basisOf(analysis)}</Minor>
      </div>
      <CardFooter
        note={
          <Link
            {...paths.ask({ project: issue.project_id, issue: issue.id })}
            {...buttonLook({ size: 'sm', className: fitStyles.fixed })}
          >
            <Icon name="ask" />
            <span>{assistantTexts.askAboutThis}</span>
          </Link>
        }
      >
        {(['helpful', 'not_helpful'] as const).map((feedback) => (
          <IconButton
            key={feedback}
            size="sm"
            look="ghost"
            icon={feedback === 'helpful' ? 'good' : 'bad'}
            label={texts.feedback[feedback]}
            aria-pressed={given === feedback}
            onClick={() => onRate(given === feedback ? null : feedback)}
          />
        ))}
      </CardFooter>
    </>
  )
}

/** `Medium confidence. Based on 3 events. Worded by gpt-4o, 1,840 tokens. Check before you ship.` */
function basisOf({ confidence, events_looked_at: events, source, model, tokens }: Analysis): string {
  const worded =
    source === 'built_in'
      ? texts.byRules
      : texts.byModel(model ?? texts.aModel, tokens === null ? null : formatCount(tokens))
  return [texts.confidence[confidence], texts.basedOn(events, formatCount(events)), worded].join(' ')
}

const isAnalysis = (value: object): value is Analysis =>
  'cause' in value &&
  'next_step' in value &&
  'created_at' in value &&
  'evidence' in value &&
  Array.isArray(value.evidence)

/** The stored analysis; null where there is none, or one of another version. */
const analysisOf = (stored: IssueDetail['ai_analysis']): Analysis | null =>
  stored !== null && isAnalysis(stored) ? stored : null
