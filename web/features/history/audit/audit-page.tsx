import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ExportLink } from './export-link.tsx'
import { useVerification, VerificationNote } from './verification.tsx'
import { useCan } from '../../../app/can.ts'
import { auditLogQuery, newEntriesQuery, type AuditEntry, type AuditFilters } from '../../../api/audit-queries.ts'
import { useLive } from '../../../api/live.ts'
import type { AuditSearch } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { MoreButton } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { RestrictedPage } from '../../../frames/restricted-page.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Kbd } from '../../../ui/kbd.tsx'
import { useThrottled } from '../../../ui/throttled.ts'
import { AuditFilterForm } from './filter-form.tsx'
import { EntryDialog } from './entry-dialog.tsx'
import { AuditTable } from './table.tsx'
import { filterWords, freshLabel } from './model.ts'
import { auditTexts as texts } from './texts.ts'
import styles from './audit-page.module.css'

const route = getRouteApi('/signed-in/shell/org/audit')
const CHECK_MS = 15_000
const NO_FILTERS = { action: undefined, actor: undefined, target: undefined, from: undefined, to: undefined }

/** The audit log: who did what, when, from where, with which outcome. */
export function AuditPage() {
  const { entry: _entry, ...filters } = route.useSearch()
  const verify = useVerification()
  const may = useCan('audit.verify')
  return (
    <RestrictedPage
      title={texts.title}
      lead={texts.lead}
      needs="audit.read"
      actions={
        <>
          <Button
            look="ghost"
            icon="check"
            title={texts.verifyHint}
            why={may.why}
            busy={verify.isPending}
            onClick={() => verify.mutate()}
          >
            {texts.verify}
          </Button>
          <ExportLink filters={filters} />
        </>
      }
    >
      <VerificationNote result={verify.data} error={verify.error} />
      <Log />
    </RestrictedPage>
  )
}

function Log() {
  const { entry: entryId, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  usePrefs()
  const list = useInfiniteQuery({ ...auditLogQuery(filters), meta: { quiet: true } })
  const entries = list.data?.pages.flatMap((page) => page.items) ?? []
  const fresh = useFreshEntries(filters, list.isPlaceholderData ? undefined : entries[0]?.seq)
  const open = entries.find(({ id }) => id === entryId)
  const show = (change: AuditSearch) =>
    void navigate({ search: (before) => ({ ...before, entry: undefined, ...change }), resetScroll: false })
  const clear = () => show(NO_FILTERS)
  const words = filterWords(filters)
  return (
    <>
      <AuditFilterForm key={JSON.stringify(filters)} filters={filters} onChange={show} onClear={clear} />
      <PageQuery query={list} what={texts.what}>
        {({ pages: [first] }) =>
          entries.length === 0 ? (
            <Card>
              {words.length === 0 ? (
                <EmptyState kind="setup" heading="h2" title={texts.none}>
                  {texts.noneText}
                </EmptyState>
              ) : (
                <EmptyState
                  kind="filtered"
                  heading="h2"
                  title={texts.filteredTitle}
                  actions={<Button onClick={clear}>{texts.filters.clear}</Button>}
                >
                  {texts.filteredText(words.join(', '))}
                </EmptyState>
              )}
            </Card>
          ) : (
            <Card aria-label={texts.title} aria-busy={list.isPlaceholderData}>
              {fresh === null ? null : (
                <button className={styles.fresh} type="button" onClick={fresh.onShow}>
                  {fresh.label} <Kbd keys="." />
                </button>
              )}
              <AuditTable entries={entries} search={{ ...filters, entry: entryId }} />
              <CardFooter
                note={texts.count(
                  formatCount(entries.length),
                  (first?.total_capped === true ? texts.over : String)(formatCount(first?.total ?? 0)),
                )}
              >
                <MoreButton list={list}>{texts.more}</MoreButton>
              </CardFooter>
            </Card>
          )
        }
      </PageQuery>
      {open === undefined ? null : (
        <EntryDialog entry={open} onFilter={(filter) => show({ ...NO_FILTERS, ...filter })} onClose={() => show({})} />
      )}
    </>
  )
}

/** Counts the entries that are newer than those shown; the list itself stays still. */
function useFreshEntries(
  filters: AuditFilters,
  shownSeq: AuditEntry['seq'] | undefined,
): { label: string; onShow: () => void } | null {
  const client = useQueryClient()
  const newest = useQuery({
    ...newEntriesQuery(filters),
    enabled: shownSeq !== undefined,
    // The list was just read.
    initialData: [],
    staleTime: CHECK_MS,
    refetchInterval: CHECK_MS,
    meta: { quiet: true },
  })
  // Most changes have a live message; the others are found by the interval.
  const check = useThrottled(2000, () => newest.refetch())
  useLive(check, check)
  const label = shownSeq === undefined ? null : freshLabel(newest.data, shownSeq)
  const onShow = () => void client.invalidateQueries({ queryKey: auditLogQuery(filters).queryKey })
  useKeys(label === null ? [] : [{ keys: '.', label: texts.showFresh, group: 'Page' as const, run: onShow }])
  return label === null ? null : { label, onShow }
}
