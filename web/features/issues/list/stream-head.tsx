import { toViewSearch } from '../../../api/view-queries.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { EnvironmentMenu } from './environment-menu.tsx'
import { FilterButton, SearchBox, SortButton } from './filters.tsx'
import type { StreamModel } from './stream-commands.ts'
import { issuesTexts } from './texts.ts'
import { ViewsMenu } from './views-menu.tsx'
import { SavedViews, useSavedView } from './views-saved.tsx'
import { StatusViews, statusView } from './views.tsx'
import styles from './issues-page.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'

/** Title, views, search and filters of the issues page. */
export function StreamHead({ search, filters, stream, mistake, state, dispatch, commands }: StreamModel) {
  const { change, openView } = commands
  const saved = useSavedView(search)
  // An unchanged saved view is the selected tab.
  const isSaved = saved.view !== null && !saved.isChanged
  return (
    <>
      <PageHead>
        <h1>{issuesTexts.title}</h1>
        <div className={styles.viewbar}>
          <StatusViews
            view={statusView(filters.status)}
            isSaved={isSaved}
            search={search}
            counts={stream.statusCounts}
          />
          <SavedViews search={search} />
        </div>
      </PageHead>
      <div className={classNames(styles.filterbar, narrowStyles.wrapsAt600)} role="search">
        <SearchBox
          search={search}
          onChange={change}
          onView={(view) => openView(toViewSearch(view, search))}
          mistake={mistake}
          hints={stream.hints}
          inputRef={commands.searchBox}
        />
        <EnvironmentMenu search={search} onChange={change} />
        <FilterButton
          search={search}
          onChange={change}
          open={state.filtering}
          onOpenChange={(filtering) => dispatch({ kind: 'open', opened: { filtering } })}
        />
        <SortButton sort={filters.sort} onChange={change} />
        <ViewsMenu search={search} onOpen={openView} />
      </div>
    </>
  )
}
