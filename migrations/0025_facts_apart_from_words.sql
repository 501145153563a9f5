-- Facts begin with a sign that no word has: a question for words that begin with `os` or `user` found every issue that
-- has a fact whose key begins so (server/issues/search/lexemes.ts).
update issue_search set
  document = array_to_tsvector(array(
    select case when position(E'\x1f' in l) > 1 then E'\x1d' || l else l end
    from unnest(tsvector_to_array(document)) l)),
  own_document = case when own_document is not null then array_to_tsvector(array(
    select case when position(E'\x1f' in l) > 1 then E'\x1d' || l else l end
    from unnest(tsvector_to_array(own_document)) l)) end;
-- What waits is as it was; the documents are added to from stored events instead.
update issue_search set stale_since = now() where issue_id in (select issue_id from issue_new_lexemes);
delete from issue_new_lexemes;
