import { z } from 'zod'
import type { FactSubscriber, RecordedFact } from '../../platform/context/actor.ts'
import { type AnalysisRequest, deleteIssueAnalyses, insertRequests, outdateAnalyses } from './analyses.queries.ts'

/**
 * Effects of facts on analyses, in the transaction that records them: those of an issue that regressed are outdated and
 * made again, those with texts of an erased user are deleted, and new critical issues wait for one.
 * @param analysesCritical whether the operator wants analyses of new critical issues
 */
export const recordAnalyses =
  (analysesCritical: boolean): FactSubscriber =>
  async (tx, { at, origin }, facts) => {
    const erased = issuesOf(facts, ({ kind }) => kind === 'issue.user_erased')
    if (erased.length > 0) await deleteIssueAnalyses(tx, erased)
    const regressed = issuesOf(facts, ({ kind }) => kind === 'issue.regressed')
    const outdated = new Set(regressed.length === 0 ? [] : await outdateAnalyses(tx, regressed, at))
    const requests = facts.flatMap((fact): AnalysisRequest[] => {
      const { kind, issueId, orgId } = fact
      if (issueId === undefined) return []
      if (kind === 'issue.regressed') return outdated.has(issueId) ? [{ issueId, orgId, reason: 'regressed' }] : []
      // A member who raises the severity looks at the issue already.
      const isNew = kind === 'issue.created' || (becameCritical(fact) && origin !== 'api')
      return analysesCritical && isNew ? [{ issueId, orgId, reason: 'new' }] : []
    })
    if (requests.length > 0) await insertRequests(tx, requests, at)
  }

const issuesOf = (facts: readonly RecordedFact[], isMeant: (fact: RecordedFact) => boolean): string[] =>
  facts.flatMap((fact) => (fact.issueId !== undefined && isMeant(fact) ? [fact.issueId] : []))

const Change = z.object({ to: z.string() })
const becameCritical = ({ kind, data }: RecordedFact): boolean =>
  kind === 'issue.severity_changed' && Change.safeParse(data).data?.to === 'critical'
