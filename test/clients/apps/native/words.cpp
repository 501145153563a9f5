// Counts words, to have code of the standard library.
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static std::vector<std::pair<std::string, int>> countWords(const std::string &text) {
  std::map<std::string, int> counts;
  std::istringstream words(text);
  for (std::string word; words >> word;) counts[word]++;
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  return sorted;
}

int main(int count, char **words) {
  for (int at = 1; at < count; at++)
    for (const auto &[word, times] : countWords(words[at])) std::cout << word << ' ' << times << '\n';
}
