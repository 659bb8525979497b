#include "lib/Trace/Trace.h"

#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <unistd.h>

namespace nanobragg::trace {

namespace detail {
std::atomic<bool> recording{false};
}

namespace {

struct Event {
  const char *category;
  std::string name, detail;
  Clock::time_point begin, end;
  Lane lane;
};

struct Record {
  std::mutex mutex;
  Clock::time_point from;
  std::deque<Event> events;
  std::map<Lane, std::string> lanes;

  /// Never freed: threads may outlive main().
  static Record &get() {
    static Record &record = *new Record;
    return record;
  }
};

/// Beyond the numbers that Linux gives to threads.
constexpr Lane firstOther = 1 << 23;

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    char escape[8];
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) >= ' ')
      result += c;
    else if (std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c)) > 0)
      result += escape;
  }
  return result + "\"";
}

/// Microseconds with three digits after the point.
std::string micro(Clock::duration time) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  char text[40];
  std::snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "",
                static_cast<long long>((ns < 0 ? -ns : ns) / 1000),
                static_cast<long long>((ns < 0 ? -ns : ns) % 1000));
  return text;
}

std::string metadata(const char *what, Lane lane, const std::string &key,
                     const std::string &value) {
  return "{\"ph\":\"M\",\"name\":\"" + std::string(what) +
         "\",\"pid\":" + std::to_string(::getpid()) + ",\"tid\":" + std::to_string(lane) +
         ",\"args\":{\"" + key + "\":" + value + "}},\n";
}

} // namespace

void start(Clock::time_point from) {
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  if (isOn())
    return;
  record.from = from;
  record.events.clear();
  record.lanes[::getpid()] = "main";
  detail::recording = true;
}

bool isEmpty() {
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  return record.events.empty();
}

std::string finish(const std::string &program) {
  detail::recording = false;
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  const std::string process = std::to_string(::getpid());
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const Event &e : record.events)
    text += "{\"ph\":\"X\",\"cat\":\"" + std::string(e.category) + "\",\"name\":" + quoted(e.name) +
            ",\"pid\":" + process + ",\"tid\":" + std::to_string(e.lane) +
            ",\"ts\":" + micro(e.begin - record.from) + ",\"dur\":" + micro(e.end - e.begin) +
            (e.detail.empty() ? "" : ",\"args\":{\"detail\":" + quoted(e.detail) + "}") + "},\n";
  int place = 0;
  for (const auto &[lane, name] : record.lanes) {
    text += metadata("thread_name", lane, "name", quoted(name));
    text += metadata("thread_sort_index", lane, "sort_index", std::to_string(place++));
  }
  text += metadata("process_name", ::getpid(), "name", quoted(program));
  record.events.clear();
  text.resize(text.size() - 2); // JSON allows no comma at the end
  return text + "\n]}\n";
}

Lane ownLane() { return ::gettid(); }

void nameThread(const std::string &name) {
  if (!isOn())
    return;
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  record.lanes.try_emplace(ownLane(), name);
}

Lane laneNamed(const std::string &name) {
  if (!isOn())
    return firstOther;
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  Lane next = firstOther;
  for (const auto &[lane, known] : record.lanes) {
    if (lane >= firstOther && known == name)
      return lane;
    next = std::max(next, lane + 1);
  }
  record.lanes[next] = name;
  return next;
}

void add(const char *category, std::string name, std::string detail, Clock::time_point begin,
         Clock::time_point end, Lane lane) {
  if (!isOn())
    return;
  Record &record = Record::get();
  const std::lock_guard lock(record.mutex);
  record.events.push_back({category, std::move(name), std::move(detail), begin, end, lane});
}

void addCompilerSpan(const char *name, const char *detail, std::int64_t begin, std::int64_t end) {
  const auto at = [](std::int64_t time) {
    return Clock::time_point(std::chrono::nanoseconds(time));
  };
  add("compiler", name, detail, at(begin), at(end), ownLane());
}

Span::Span(const char *category, std::string_view spanName) : on(isOn()), kind(category) {
  if (!on)
    return;
  name = spanName;
  begin = Clock::now();
}

Span::~Span() {
  if (on)
    add(kind, std::move(name), std::move(about), begin, Clock::now(), row < 0 ? ownLane() : row);
}

} // namespace nanobragg::trace
