import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import {
  toViewSearch,
  toViewDraft,
  shows,
  useViewChange,
  useViewDelete,
  viewsQuery,
  type SavedView,
} from '../../../api/view-queries.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Menu, type MenuEntry } from '../../../ui/menu.tsx'
import { viewTexts } from './view-texts.ts'

const ViewDialog = lazy(() => import('./view-dialog.tsx').then((module) => ({ default: module.IssueViewDialog })))

type ViewsMenuProps = {
  search: IssuesSearch
  /** Opens a view. */
  onOpen: (search: IssuesSearch) => void
}

/** The menu that opens, saves, edits and deletes saved views. */
export function ViewsMenu({ search, onOpen }: ViewsMenuProps) {
  const { data: views = [] } = useQuery(viewsQuery)
  const [dialog, setDialog] = useState<'create' | 'edit' | null>(null)
  const change = useViewChange((view) => viewTexts.saved(view.name))
  const remove = useViewDelete((view) => viewTexts.deleted(view.name), viewTexts.deleteFailed)
  const current = views.find((view) => view.id === search.view) ?? null

  const why = current === null || current.can_change ? undefined : viewTexts.notYours
  const entries: MenuEntry[] = [
    ...section(
      viewTexts.yours,
      views.filter((view) => !view.is_shared),
    ),
    ...section(
      viewTexts.shared,
      views.filter((view) => view.is_shared),
    ),
    ...(views.length === 0 ? [{ kind: 'heading' as const, label: viewTexts.none }] : []),
    { kind: 'separator' },
    ...(current === null || shows(search, current)
      ? []
      : [
          {
            label: viewTexts.saveChanges(current.name),
            why,
            onSelect: () => change.mutate({ viewId: current.id, ...toViewDraft(search) }),
          },
        ]),
    { label: viewTexts.save, letter: 's', onSelect: () => setDialog('create') },
    ...(current === null
      ? []
      : [
          { label: viewTexts.edit, why, onSelect: () => setDialog('edit') },
          {
            label: viewTexts.delete,
            why,
            danger: true,
            onSelect: () => {
              remove.mutate(current)
              onOpen({ ...search, view: undefined })
            },
          },
        ]),
  ]

  function section(label: string, list: readonly SavedView[]): MenuEntry[] {
    if (list.length === 0) return []
    const names = new Map<string, number>()
    return [
      { kind: 'heading', label },
      ...list.map((view): MenuEntry => {
        const nth = (names.get(view.name) ?? 0) + 1
        names.set(view.name, nth)
        return {
          label: nth === 1 ? view.name : `${view.name} (${nth})`,
          checked: view.id === current?.id,
          onSelect: () => onOpen(toViewSearch(view, search)),
        }
      }),
    ]
  }

  return (
    <>
      <Menu
        label={viewTexts.views}
        align="end"
        entries={entries}
        trigger={
          <Button
            caret
            className={fitStyles.narrowButton}
            title={viewTexts.views}
            aria-label={current === null ? viewTexts.views : `${viewTexts.views}: ${current.name}`}
          >
            {current?.name ?? viewTexts.menu}
          </Button>
        }
      />
      {dialog === null ? null : (
        <Suspense fallback={null}>
          <ViewDialog
            view={dialog === 'edit' ? current : null}
            search={search}
            onClose={() => setDialog(null)}
            onSaved={(view) => {
              setDialog(null)
              onOpen({ ...search, view: view.id })
            }}
          />
        </Suspense>
      )}
    </>
  )
}
