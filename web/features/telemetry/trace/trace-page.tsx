import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { traceQuery, type Trace } from '../../../api/trace-queries.ts'
import { paths } from '../../../address/paths.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Crumbs } from '../../../ui/crumbs.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { traceTexts } from './texts.ts'
import styles from './trace-page.module.css'
import { Waterfall } from './waterfall.tsx'

const route = getRouteApi('/signed-in/shell/projects/$projectId/traces/$traceId')

/** The page of one trace: its spans as a waterfall, and the errors in it. */
export function TracePage() {
  const { projectId, traceId } = route.useParams()
  const trace = useQuery({ ...traceQuery(projectId, traceId), meta: { quiet: true } })
  usePrefs()
  usePageTitle(trace.data?.name ?? traceTexts.title)
  return (
    <PageMain>
      <PageQuery
        query={trace}
        what={traceTexts.title}
        pageTitle={traceTexts.title}
        missing={
          <EmptyState
            kind="missing"
            heading="h1"
            title={traceTexts.missing}
            actions={
              <Link {...paths.issues({ project: projectId })} {...buttonLook({ look: 'primary' })}>
                {traceTexts.back}
              </Link>
            }
          >
            {traceTexts.missingText}
          </EmptyState>
        }
      >
        {(data) => <Body trace={data} />}
      </PageQuery>
    </PageMain>
  )
}

function Body({ trace }: { trace: Trace }) {
  const { sampling } = trace
  return (
    <>
      <Crumbs
        label={traceTexts.issues}
        list={<Link {...paths.issues({ project: trace.project_id })}>{traceTexts.issues}</Link>}
      >
        <span>{traceTexts.title}</span>
      </Crumbs>
      <PageHead
        actions={
          <CopyButton text={trace.trace_id} said={traceTexts.idCopied}>
            {traceTexts.copyId}
          </CopyButton>
        }
      >
        <div>
          <h1 className={typeStyles.longTitle}>{trace.name ?? traceTexts.unnamed}</h1>
          <p>
            {traceTexts.lead(trace.spans.length + trace.spans_left_out, trace.duration_ms)},{' '}
            <Time at={trace.started_at} as="since" />
          </p>
        </div>
      </PageHead>
      {trace.errors.length === 0 ? null : (
        <Card title={traceTexts.errors} className={classNames(styles.errors, fitStyles.gapAfter)}>
          <ul>
            {trace.errors.map((one) => (
              <li key={one.event_id}>
                <Link {...paths.issue(one.issue_id, { event: one.event_id })}>
                  <span className={typeStyles.mono}>{one.short_id}</span> {one.title}
                </Link>
                <Minor>
                  <Time at={one.occurred_at} />
                </Minor>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card title={traceTexts.waterfall}>
        <Waterfall trace={trace} />
        <CardFooter
          note={[
            traceTexts.kept[trace.kept_because],
            trace.spans_left_out === 0 ? null : traceTexts.leftOut(trace.spans_left_out),
            trace.kept_because === 'recent' ? null : traceTexts.sampling(sampling.kept, sampling.transactions),
            sampling.considered < sampling.transactions ? traceTexts.considered(sampling.considered) : null,
          ]
            .filter((sentence) => sentence !== null)
            .join(' ')}
        />
      </Card>
    </>
  )
}
